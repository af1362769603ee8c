-- A user's membership in one place, found without reading their memberships elsewhere: PostgreSQL often chose this index, which then led to all of them.
drop index members_by_user;
create index members_by_user on members (user_id, group_id, project_id);
