-- Files of users that were too costly to read, by their content: they are not tried again.
create table costly_files (
  content text primary key,
  error text not null,
  noted_at timestamptz not null default now()
);
create index on costly_files (noted_at);

-- The SHA-256 of a source map as it is stored; null in rows that are older than the column.
alter table error_tracking_source_maps add column digest text;
