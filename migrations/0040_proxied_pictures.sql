-- Pictures of other servers that texts show, as they were fetched.
create table proxied_pictures (
  address_sha256 text not null,
  blob_key text,
  media_type text,
  size_bytes bigint default 0 not null,
  fetched_at timestamptz default now() not null,
  used_at timestamptz default now() not null,
  constraint proxied_pictures_pkey primary key (address_sha256),
  constraint proxied_pictures_check check (num_nonnulls(blob_key, media_type) in (0, 2))
);
create unique index proxied_pictures_by_blob on proxied_pictures using btree (blob_key);
create index proxied_pictures_by_use on proxied_pictures using btree (used_at);
comment on table proxied_pictures is 'Pictures of other servers that texts show, as they were fetched; the bytes are blobs.';
comment on column proxied_pictures.address_sha256 is 'The digest of the address, in hexadecimal.';
comment on column proxied_pictures.blob_key is 'Null if no picture could be fetched.';
comment on column proxied_pictures.used_at is 'When it was shown last, give or take a day.';
create trigger keep_changed_picture after update of blob_key on proxied_pictures for each row
  when (old.blob_key is not null and old.blob_key is distinct from new.blob_key) execute function keep_unused_picture();
create trigger keep_deleted_picture after delete on proxied_pictures for each row
  when (old.blob_key is not null) execute function keep_unused_picture();
alter table application_settings add column asset_proxy_enabled boolean default true not null;
