-- A job writes the file of an export, which lists what was listed then.
delete from dependency_list_exports;
alter table dependency_list_exports
  add status text not null default 'created' check (status in ('created', 'running', 'finished', 'failed')),
  -- Whether the user could read them when they asked.
  add with_vulnerabilities boolean not null default false,
  add blob_key text,
  add size_bytes bigint,
  add check ((status = 'finished') = (blob_key is not null and size_bytes is not null));

create function keep_unused_dependency_export() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed where blob_key is not null on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_dependency_export after delete on dependency_list_exports referencing old table as removed
  for each statement execute function keep_unused_dependency_export();
