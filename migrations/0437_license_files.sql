-- Files of packages that are committed with a project and tell their licenses, as far as its dependencies need them.
create table license_files (
  project_id     bigint not null references projects on delete cascade,
  path           text not null,
  blob_id        text not null,
  -- Of the code that read it.
  reader_version integer not null,
  -- [{ecosystem, advised_name, version, licenses}], the version null when the file does not say.
  declared       jsonb not null,
  primary key (project_id, path)
);

-- What they say of a dependency whose own file says nothing.
alter table dependencies add found_licenses text[] not null default '{}';
