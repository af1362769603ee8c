-- What projects are built on, as their lock files and bills of materials say.

-- Each version of a package once for all projects, under the name by which advisories know it. Packages that no advisories exist for are not here.
create table package_versions (
  id           bigint generated always as identity primary key,
  ecosystem    text not null,
  advised_name text not null,
  version      text not null,
  created_at   timestamptz not null default now(),
  unique (ecosystem, advised_name, version)
);

-- The commit whose files are listed; null when the default branch does not exist.
create table dependency_scans (
  project_id bigint primary key references projects on delete cascade,
  commit_id  text,
  scanned_at timestamptz not null default now()
);

create table dependency_files (
  id              bigint generated always as identity primary key,
  project_id      bigint not null references projects on delete cascade,
  path            text not null,
  -- Null for an uploaded document.
  blob_id         text,
  -- Of the code that read it: a blob is read again when that has changed.
  reader_version  integer not null,
  -- Null for a bill of materials, which is about several.
  package_manager text,
  count           integer not null,
  -- Why it could not be read.
  error           text,
  -- Paths of other files that it includes.
  includes        text[] not null default '{}',
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
);
create unique index on dependency_files (project_id, path) where blob_id is not null;
create unique index on dependency_files (project_id, path) where blob_id is null;
create index on dependency_files (project_id, path, id);

create table dependencies (
  id                 bigint generated always as identity primary key,
  project_id         bigint not null references projects on delete cascade,
  file_id            bigint not null references dependency_files on delete cascade,
  -- Tells the entries of a file apart; their texts together are too long for an index.
  digest             uuid not null,
  package_version_id bigint references package_versions,
  name               text not null,
  version            text not null,
  package_manager    text not null,
  -- That of the file, or of the one that a bill of materials names.
  path               text not null,
  -- Null when the file does not say.
  direct             boolean,
  development        boolean not null,
  licenses           text[] not null,
  unique (file_id, digest)
);
create index on dependencies (project_id, id);
create index on dependencies (project_id, package_manager, id);
create index on dependencies (package_version_id) where package_version_id is not null;
