-- A search lists users who are called exactly so first.
create index users_by_lower_name on users (lower(name));
