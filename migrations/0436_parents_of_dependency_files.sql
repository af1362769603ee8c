-- Files that complete another one, as the parents of a pom.xml do: [{path, blob_id}], null for one that does not exist. The file is read again when one changes.
alter table dependency_files add parents jsonb not null default '[]';
