-- The index of code has the paths of all files now, also of those without text. Projects that a version before has indexed are found as before, until a job has
-- indexed them again.
set local lock_timeout = '5s';
alter table code_indexes add column has_all_paths boolean not null default false;
