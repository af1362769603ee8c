-- The text of the files of default branches, to find code in many projects. It is made from the repositories, and made again when it is lost: the tables
-- are not logged, so that backups leave them out and a crash of PostgreSQL empties them.
create unlogged table code_indexes (
  project_id bigint primary key references projects on delete cascade,
  -- The commit whose files are indexed; null before the first time.
  commit_id text,
  is_stale boolean not null default true,
  -- Counts changes of the branch: one that comes while the project is indexed leaves it stale.
  changes bigint not null default 0,
  -- Why the last attempt failed.
  error text,
  failed_at timestamptz
);
create index code_indexes_stale on code_indexes (project_id) where is_stale;

-- Contents are kept once, however many projects and paths have them.
create unlogged table code_blobs (
  id bigint generated always as identity primary key,
  object_id text not null unique,
  content text not null
);
create index code_blobs_search on code_blobs using gin (content gin_trgm_ops);

create unlogged table code_files (
  project_id bigint not null references code_indexes on delete cascade,
  path text not null collate "C",
  blob_id bigint not null references code_blobs,
  primary key (project_id, path)
);
create index code_files_of_blob on code_files (blob_id);
create index code_files_by_path on code_files using gin (path gin_trgm_ops);
