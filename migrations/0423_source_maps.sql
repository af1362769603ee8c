-- Releases that clients announce, and the source maps that they upload for them.

-- A version of an application, as clients name it.
create table error_tracking_versions (
  id          bigint generated always as identity primary key,
  project_id  bigint not null references projects on delete cascade,
  version     text not null,
  url         text,
  -- The newest of its commits, if a client has said which these are.
  commit_sha  text check (commit_sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  started_at  timestamptz,
  released_at timestamptz,
  created_at  timestamptz not null default now(),
  -- When a client last changed it, uploaded something for it or sent an event of it.
  used_at     timestamptz not null default now(),
  unique (project_id, version)
);
create index on error_tracking_versions (project_id, created_at, id);
create index on error_tracking_versions (used_at);

-- Parts of bundles, by the SHA-1 of their bytes, until the bundle is unpacked.
create table error_tracking_chunks (
  user_id    bigint not null references users on delete cascade,
  checksum   bytea not null check (length(checksum) = 20),
  blob_key   text not null,
  size_bytes integer not null,
  created_at timestamptz not null default now(),
  primary key (user_id, checksum)
);
create index on error_tracking_chunks (created_at);

-- An archive of source maps, by the SHA-1 of its bytes.
create table error_tracking_bundles (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  -- Who uploaded it; null when the user is gone.
  user_id    bigint references users on delete set null,
  version_id bigint references error_tracking_versions on delete cascade,
  dist       text not null default '',
  checksum   bytea not null check (length(checksum) = 20),
  -- In hexadecimal, in their order.
  chunks     text[] not null,
  state      text not null default 'created' check (state in ('created', 'ok', 'error')),
  -- Why it could not be unpacked.
  detail     text,
  created_at timestamptz not null default now(),
  unique nulls not distinct (project_id, checksum, version_id, dist)
);
create index on error_tracking_bundles (user_id) where user_id is not null;
create index on error_tracking_bundles (version_id) where version_id is not null;
create index on error_tracking_bundles (created_at);

-- The source map of a file. Its blob is compressed as in the archive (raw deflate).
create table error_tracking_source_maps (
  id         bigint generated always as identity primary key,
  bundle_id  bigint not null references error_tracking_bundles on delete cascade,
  project_id bigint not null references projects on delete cascade,
  debug_id   uuid,
  -- Of the file that it is about, with `~` for the scheme and the host.
  url        text,
  blob_key   text not null,
  size_bytes integer not null,
  -- When it was last read; null: it stays as long as its release.
  used_at    timestamptz
);
create index on error_tracking_source_maps (project_id, debug_id);
create index on error_tracking_source_maps (project_id, url);
create index on error_tracking_source_maps (bundle_id);
create index on error_tracking_source_maps (used_at) where used_at is not null;

-- Whatever takes a map or a chunk away: itself, its bundle, its release, its project, its user.
create function keep_unused_source_map() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_source_map after delete on error_tracking_source_maps referencing old table as removed
  for each statement execute function keep_unused_source_map();
create trigger keep_unused_source_map after delete on error_tracking_chunks referencing old table as removed
  for each statement execute function keep_unused_source_map();

-- For checking files against rows.
create index on error_tracking_chunks (blob_key);
create index on error_tracking_source_maps (blob_key);
