-- The sites of an installation: one primary and the secondaries that follow it.
create table geo_nodes (
  id bigint primary key generated always as identity,
  name citext not null check (length(name) between 1 and 255),
  -- Both end with a slash. Without an internal one, sites reach each other at the external one.
  url text not null,
  internal_url text,
  "primary" boolean not null default false,
  enabled boolean not null default true,
  files_max_capacity integer not null default 10 check (files_max_capacity >= 0),
  repos_max_capacity integer not null default 25 check (repos_max_capacity >= 0),
  verification_max_capacity integer not null default 100 check (verification_max_capacity >= 0),
  container_repositories_max_capacity integer not null default 10 check (container_repositories_max_capacity >= 0),
  sync_object_storage boolean not null default false,
  selective_sync_type text check (selective_sync_type in ('namespaces', 'shards')),
  -- Names of storages of the primary.
  selective_sync_shards text[] not null default '{}',
  minimum_reverification_interval integer not null default 7 check (minimum_reverification_interval >= 1),
  blob_download_timeout integer not null default 28800 check (blob_download_timeout between 1 and 86400),
  -- A random text that only the primary and this secondary know, encrypted. Null for the primary, and where it was lost.
  credential bytea,
  -- When somebody asked for a new status, and for another try of all that failed.
  refresh_requested_at timestamptz,
  repair_requested_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint geo_nodes_name_key unique (name)
);
create unique index geo_nodes_one_primary on geo_nodes ("primary") where "primary";

-- The groups and namespaces of users to which a secondary is limited, each with everything below it.
create table geo_node_namespaces (
  geo_node_id bigint not null references geo_nodes on delete cascade,
  namespace_id bigint not null references namespaces on delete cascade,
  primary key (geo_node_id, namespace_id)
);
create index geo_node_namespaces_namespace_id on geo_node_namespaces (namespace_id);

-- What each node said about itself last.
create table geo_statuses (
  geo_node_id bigint primary key references geo_nodes on delete cascade,
  status jsonb not null,
  reported_at timestamptz not null default now()
);
