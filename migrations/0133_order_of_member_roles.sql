-- The order of the list of the instance, which may have any number of roles: the key of the table gives it for one group, but not where there is none.
create index member_roles_of_instance on member_roles (name, id) where group_id is null;
