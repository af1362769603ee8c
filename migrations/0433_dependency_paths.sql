-- Files that are read although they lie below a folder of foreign code or tests.
alter table projects add dependency_paths text[] not null default '{}';
