-- Migrations by direct transfer (docs/reference/bulk_imports.md): groups and projects that are copied from another server.
create table bulk_imports (
  id             bigint generated always as identity primary key,
  user_id        bigint not null references users on delete cascade,
  state          text not null default 'created'
                 check (state in ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
  source_url     text not null,
  source_version text not null,
  -- Sealed. It is erased at a cancel, and some time after the end.
  access_token   bytea,
  has_failures   boolean not null default false,
  ended_at       timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now()
);
create index bulk_imports_of_user on bulk_imports (user_id, created_at, id);
create index bulk_imports_running on bulk_imports (id) where state in ('created', 'started');
create index bulk_imports_with_token on bulk_imports (ended_at) where access_token is not null and ended_at is not null;

-- A group or project of a migration. Those below a group become entities when they are found.
create table bulk_import_entities (
  id                    bigint generated always as identity primary key,
  bulk_import_id        bigint not null references bulk_imports on delete cascade,
  user_id               bigint not null references users on delete cascade,
  parent_id             bigint references bulk_import_entities on delete cascade,
  state                 text not null default 'created'
                        check (state in ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
  entity_type           text not null check (entity_type in ('group', 'project')),
  source_full_path      text not null,
  destination_namespace text not null,
  destination_slug      text not null,
  -- What was made.
  namespace_id          bigint references namespaces on delete set null,
  project_id            bigint references projects on delete set null,
  migrate_projects      boolean not null,
  migrate_memberships   boolean not null,
  has_failures          boolean not null default false,
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now(),
  unique (bulk_import_id, entity_type, source_full_path, destination_namespace, destination_slug)
);
create index bulk_import_entities_of_import on bulk_import_entities (bulk_import_id, created_at, id);
create index bulk_import_entities_of_user on bulk_import_entities (user_id, created_at, id);
create index bulk_import_entities_running on bulk_import_entities (bulk_import_id, id) where state in ('created', 'started');
create index bulk_import_entities_of_parent on bulk_import_entities (parent_id);
create index bulk_import_entities_of_group on bulk_import_entities (namespace_id);
create index bulk_import_entities_of_project on bulk_import_entities (project_id);

-- What is copied of an entity, one step each. This is the journal, too: the batch and the line of the last written record change in the transaction that writes it.
create table bulk_import_relations (
  id             bigint generated always as identity primary key,
  entity_id      bigint not null references bulk_import_entities on delete cascade,
  relation       text not null,
  stage          integer not null,
  state          text not null default 'created' check (state in ('created', 'started', 'finished', 'skipped', 'failed', 'canceled')),
  -- The number of the batch, from 1; 0 of a relation that has none.
  batch          integer not null default 0,
  batches_count  integer,
  line           bigint not null default 0,
  -- By the name of the relation or of one nested in it: what the source has, what was read, and what was written.
  counts         jsonb not null default '{}',
  failures_count bigint not null default 0,
  -- Of the file that is being downloaded.
  etag           text,
  -- Since when the source has given no good answer, and how often it was asked since.
  silent_since   timestamptz,
  tries          integer not null default 0,
  -- When something was last read or written.
  progressed_at  timestamptz not null default now(),
  started_at     timestamptz,
  ended_at       timestamptz,
  unique (entity_id, relation)
);
create index bulk_import_relations_running on bulk_import_relations (id) where state = 'started';

-- Records that are not here now, each with its reason. Those beyond the first hundred of a kind are counted in one row.
create table bulk_import_failures (
  id               bigint generated always as identity primary key,
  entity_id        bigint not null references bulk_import_entities on delete cascade,
  relation         text not null,
  step             text not null check (step in ('extractor', 'transformer', 'loader')),
  pipeline_class   text not null,
  exception_class  text not null,
  exception_message text not null,
  correlation_id   text not null,
  source_url       text,
  source_title     text,
  -- How many further failures this row stands for; null for a single one.
  more             bigint,
  created_at       timestamptz not null default now()
);
create index bulk_import_failures_of_entity on bulk_import_failures (entity_id, id);
create unique index bulk_import_failures_summed on bulk_import_failures (entity_id, relation, exception_class) where more is not null;
