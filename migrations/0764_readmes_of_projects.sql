-- The README of the default branch, so that lists of projects name it without git. Empty where there is none, and null until
-- the branch was looked at: a job looks at those that are older, and at those that were lost or did not exist.
alter table projects add column readme_path text;
create index projects_without_known_readme on projects (id) where readme_path is null and not empty_repo;
