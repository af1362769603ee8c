-- Files that people attach to Markdown texts of a project or group. Copies share a blob.
create table uploads (
  id          bigint generated always as identity primary key,
  project_id  bigint references projects on delete cascade,
  group_id    bigint references namespaces on delete cascade,
  -- Null when the user is gone.
  user_id     bigint references users on delete set null,
  -- Part of the URL, which nobody can guess.
  secret      text not null check (secret ~ '^[0-9a-f]{32}$'),
  filename    text not null,
  blob_key    text not null,
  size_bytes  bigint not null check (size_bytes >= 0),
  -- SHA-256 of the bytes, in hexadecimal.
  sha256      text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  created_at  timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1),
  constraint uploads_secret_key unique (secret)
);
create index uploads_by_project on uploads (project_id, created_at desc, id desc) where project_id is not null;
create index uploads_by_group on uploads (group_id, created_at desc, id desc) where group_id is not null;
create index uploads_by_user on uploads (user_id);
create index uploads_by_blob on uploads (blob_key);

-- Whatever takes the upload away: itself, its project, its group. The blob may have other rows; the deletion of blobs looks for them.
create function keep_unused_upload() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select distinct blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_upload after delete on uploads referencing old table as removed
  for each statement execute function keep_unused_upload();

alter table projects
  add column enforce_auth_checks_on_uploads boolean not null default true;
