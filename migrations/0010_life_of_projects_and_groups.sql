alter table namespaces
  add column archived               boolean not null default false,
  -- When a group was marked for deletion; a job removes it some days after that.
  add column marked_for_deletion_at timestamptz;
create index namespaces_archived on namespaces (id) where archived;
create index namespaces_marked_for_deletion on namespaces (marked_for_deletion_at) where marked_for_deletion_at is not null;

alter table projects
  add column marked_for_deletion_at timestamptz,
  add column forked_from_id         bigint references projects on delete set null,
  -- How far the copy of a fork's repository has come.
  add column import_status          text not null default 'none'
             check (import_status in ('none', 'scheduled', 'started', 'finished', 'failed')),
  add column import_error           text;
create index projects_marked_for_deletion on projects (marked_for_deletion_at) where marked_for_deletion_at is not null;
create index projects_by_source on projects (forked_from_id, id) where forked_from_id is not null;
