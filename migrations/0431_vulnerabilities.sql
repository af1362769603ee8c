-- What is known of vulnerable packages, as OSV records, and what of it concerns which project.

create table advisories (
  id          bigint generated always as identity primary key,
  record_id   text not null unique,
  aliases     text[] not null,
  -- The smallest id of all records that are about the same, by their aliases: they are one vulnerability of a project.
  cluster     text not null,
  name        text not null,
  summary     text not null,
  details     text not null,
  -- The place in: unknown, info, low, medium, high, critical.
  severity    smallint not null check (severity between 0 and 5),
  links       text[] not null,
  modified_at timestamptz not null,
  created_at  timestamptz not null default now()
);
create index on advisories (cluster);

create table advisory_packages (
  id           bigint generated always as identity primary key,
  advisory_id  bigint not null references advisories on delete cascade,
  ecosystem    text not null,
  advised_name text not null,
  ranges       jsonb not null,
  versions     text[] not null
);
create index on advisory_packages (ecosystem, advised_name);
create index on advisory_packages (advisory_id);

-- False until it was compared with all advisories about the package.
alter table package_versions add is_matched boolean not null default false;
create index on package_versions (id) where not is_matched;

create table package_advisories (
  package_version_id bigint not null references package_versions on delete cascade,
  advisory_id        bigint not null references advisories on delete cascade,
  primary key (package_version_id, advisory_id)
);
create index on package_advisories (advisory_id);

create table vulnerabilities (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  cluster    text not null,
  name       text not null,
  severity   smallint not null check (severity between 0 and 5),
  state      text not null default 'detected' check (state in ('detected', 'dismissed', 'resolved')),
  -- Whether a dependency of the project is affected now.
  is_present boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, cluster)
);
create index on vulnerabilities (project_id, severity desc, id);
create index on vulnerabilities (project_id, state, severity desc, id);
create index on vulnerabilities (cluster);

create table vulnerability_state_changes (
  id               bigint generated always as identity primary key,
  vulnerability_id bigint not null references vulnerabilities on delete cascade,
  -- Null when the server did it, because a dependency was changed, or when the user is gone.
  user_id          bigint references users on delete set null,
  from_state       text not null,
  to_state         text not null,
  comment          text,
  created_at       timestamptz not null default now()
);
create index on vulnerability_state_changes (vulnerability_id, id);
create index on vulnerability_state_changes (user_id) where user_id is not null;
