-- The processes that make one site together (docs/operating.md#more-than-one-machine).
create table nodes (
  id bigint generated always as identity not null,
  name text not null,
  run uuid not null,
  host text not null,
  process_id integer not null,
  version text not null,
  url text not null,
  roles text[] not null,
  data_id uuid,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  constraint nodes_pkey primary key (id),
  constraint nodes_name_key unique (name)
);
comment on table nodes is 'The processes of a site: servers that answer requests, and processes that run jobs.';
comment on column nodes.run is 'The process that the row is of; another one takes the row over by its name.';
comment on column nodes.roles is 'What it does: requests, jobs.';
comment on column nodes.data_id is 'The content of node_id in its data folder; null if it has no data folder that can be written.';
comment on column nodes.seen_at is 'When it last said that it runs, every ten seconds.';

create table storages (
  name text not null,
  marker uuid not null,
  constraint storages_pkey primary key (name)
);
comment on table storages is 'The folders of storages, by which servers notice that they do not share one.';
comment on column storages.marker is 'The content of the file .coppice_storage in the folder.';
