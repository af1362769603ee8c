-- Checking three keys for each row took as long as writing it. That of the project follows from the file, and what `package_version_id` names stays while it is
-- in use, by a lock (docs/decisions/0054-dependencies-have-one-foreign-key.md).
alter table dependencies drop constraint dependencies_project_id_fkey;
alter table dependencies drop constraint dependencies_package_version_id_fkey;
