-- Large files that stand outside the repositories as pointers. The bytes are a blob whose key is the oid. A row is written before its blob comes, so that no blob
-- is ever without a row; the blob of a row is there as soon as a project has it.
create table lfs_objects (
  id             bigint generated always as identity primary key,
  -- SHA-256 of the bytes, in hexadecimal.
  oid            text not null unique check (oid ~ '^[0-9a-f]{64}$'),
  size           bigint not null check (size >= 0),
  -- When an upload last began to be put in its place.
  last_upload_at timestamptz not null default now()
);

-- Which projects have an object: each has proved, by uploading it, that it holds the bytes.
create table lfs_objects_projects (
  project_id    bigint not null references projects on delete cascade,
  lfs_object_id bigint not null references lfs_objects,
  created_at    timestamptz not null default now(),
  primary key (project_id, lfs_object_id)
);
create index lfs_objects_projects_by_object on lfs_objects_projects (lfs_object_id);

create table lfs_locks (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  user_id    bigint not null references users on delete cascade,
  path       text not null,
  locked_at  timestamptz not null default now(),
  constraint lfs_locks_path_key unique (project_id, path)
);
create index lfs_locks_by_project on lfs_locks (project_id, id);
create index lfs_locks_by_user on lfs_locks (user_id);

-- What the short-lived credentials of LFS clients are signed with: one row, of 244 bits from the strong random source behind UUIDs.
create table lfs_credential_keys (
  id  boolean primary key default true check (id),
  key bytea not null
);
insert into lfs_credential_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
