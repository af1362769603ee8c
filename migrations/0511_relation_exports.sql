-- What a user exports of a project or group: one relation of it.
create table relation_exports (
  id                  bigint generated always as identity primary key,
  user_id             bigint not null references users on delete cascade,
  project_id          bigint references projects on delete cascade,
  group_id            bigint references namespaces on delete cascade,
  relation            text not null,
  batched             boolean not null,
  -- 0 started, 1 finished, -1 failed, as the API shows them.
  status              integer not null default 0 check (status in (-1, 0, 1)),
  error               text check (char_length(error) <= 255),
  batches_count       integer not null default 0,
  total_objects_count bigint not null default 0,
  updated_at          timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1),
  unique nulls not distinct (user_id, project_id, group_id, relation)
);
create index relation_exports_by_project on relation_exports (project_id) where project_id is not null;
create index relation_exports_by_group on relation_exports (group_id) where group_id is not null;
create index relation_exports_that_ended on relation_exports (updated_at) where status <> 0;

-- The files of an export, each written by a job: number 0 is that of the whole relation, the others are those of its batches. In a batched export, the job of number 0
-- finds the batches.
create table relation_export_files (
  id            bigint generated always as identity primary key,
  export_id     bigint not null references relation_exports on delete cascade,
  batch_number  integer not null,
  -- The ids of a batch, both included.
  first_id      bigint,
  last_id       bigint,
  status        integer not null default 0 check (status in (-1, 0, 1)),
  error         text check (char_length(error) <= 255),
  objects_count bigint not null default 0,
  failures      integer not null default 0,
  -- When it may be written: later after a failure.
  due_at        timestamptz not null default now(),
  -- Which of the places for jobs that run at a time it has, while it is being written.
  slot          integer,
  -- How often it was begun: an earlier run that still works changes nothing.
  run           integer not null default 0,
  -- When the run has last made progress.
  heard_at      timestamptz,
  -- The last complete file. It stays while a new one is written.
  blob_key      text unique,
  size_bytes    bigint,
  sha256        text,
  updated_at    timestamptz not null default now(),
  unique (export_id, batch_number),
  check (num_nonnulls(blob_key, size_bytes, sha256) in (0, 3))
);
create index relation_export_files_that_wait on relation_export_files (due_at, id) where status = 0;
create unique index relation_export_files_being_written on relation_export_files (slot) where status = 0 and slot is not null;

create function keep_unused_relation_export() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) values (old.blob_key) on conflict do nothing;
  return null;
end $$;
create trigger keep_replaced_relation_export after update of blob_key on relation_export_files for each row
  when (old.blob_key is distinct from new.blob_key and old.blob_key is not null) execute function keep_unused_relation_export();
create trigger keep_deleted_relation_export after delete on relation_export_files for each row
  when (old.blob_key is not null) execute function keep_unused_relation_export();
