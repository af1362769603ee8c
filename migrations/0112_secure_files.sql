-- Files that jobs need and that do not belong into a repository: keys, certificates, profiles.
create table secure_files (
  id bigint generated always as identity not null,
  project_id bigint not null,
  name text not null,
  checksum text not null,
  metadata json,
  expires_at timestamp with time zone,
  content_key bytea not null,
  blob_key text not null,
  stored_bytes bigint not null,
  stored_sha256 text not null,
  created_at timestamp with time zone default now() not null,
  constraint secure_files_pkey primary key (id),
  constraint secure_files_name unique (project_id, name),
  constraint secure_files_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index secure_files_of_project on secure_files using btree (project_id, id);
create unique index secure_files_blob_key on secure_files using btree (blob_key);
comment on table secure_files is 'Files that the jobs of projects need and that are not in their repositories.';
comment on column secure_files.checksum is 'The SHA-256 of the file as it was sent, in hexadecimal.';
comment on column secure_files.metadata is 'What a certificate says of itself; null for other files.';
comment on column secure_files.content_key is 'Encrypted: the key with which the blob is encrypted.';
comment on column secure_files.stored_bytes is 'The size of the blob.';

create function keep_unused_secure_file() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_secure_file after delete on secure_files
  referencing old table as removed for each statement execute function keep_unused_secure_file();
