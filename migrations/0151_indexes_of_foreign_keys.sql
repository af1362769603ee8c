-- What a foreign key points at is looked up from the other end when the row that it points at is deleted.
create index members_by_creator on members (created_by_id) where created_by_id is not null;
create index users_by_creator on users (created_by_id) where created_by_id is not null;
create index user_mentions_by_epic on user_mentions (epic_id) where epic_id is not null;
create index internal_ids_by_namespace on internal_ids (namespace_id) where namespace_id is not null;
