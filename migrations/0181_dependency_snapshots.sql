-- What single commits depend on, for policies about merge requests.
create table dependency_snapshots (
  id bigint generated always as identity not null,
  project_id bigint not null,
  commit_id text not null,
  reader_version integer not null,
  asked_at timestamp with time zone default now() not null,
  read_at timestamp with time zone,
  error text,
  constraint dependency_snapshots_pkey primary key (id),
  constraint dependency_snapshots_key unique (project_id, commit_id),
  constraint dependency_snapshots_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index dependency_snapshots_by_age on dependency_snapshots using btree (asked_at);
comment on table dependency_snapshots is 'Commits whose dependencies were read for policies about merge requests: heads and merge bases. They are forgotten after a while, and read again when somebody asks.';
comment on column dependency_snapshots.reader_version is 'The version of the code that read the files; they are read again when that changes.';
comment on column dependency_snapshots.read_at is 'Null until all files are read.';
comment on column dependency_snapshots.error is 'Why the dependencies are not all known; null if they are.';

create table dependency_snapshot_packages (
  snapshot_id bigint not null,
  name text not null,
  version text not null,
  package_version_id bigint,
  licenses text[] not null,
  constraint dependency_snapshot_packages_snapshot_id_fkey foreign key (snapshot_id) references dependency_snapshots(id) on delete cascade
);
create index dependency_snapshot_packages_by_snapshot on dependency_snapshot_packages using btree (snapshot_id, package_version_id);
create index dependency_snapshot_packages_by_version on dependency_snapshot_packages using btree (package_version_id) where package_version_id is not null;
comment on table dependency_snapshot_packages is 'The packages that a commit depends on.';
comment on column dependency_snapshot_packages.package_version_id is 'Null for a package that advisories cannot be about.';
comment on column dependency_snapshot_packages.licenses is 'As the file that lists it says.';
