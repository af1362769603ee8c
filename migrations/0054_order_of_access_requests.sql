-- Whoever has asked first stands first.
create index access_requests_by_group on access_requests (group_id, id) where group_id is not null;
create index access_requests_by_project on access_requests (project_id, id) where project_id is not null;
