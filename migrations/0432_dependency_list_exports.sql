-- Exports of the dependencies of projects: who asked for which form. The file is written while it is downloaded.
create table dependency_list_exports (
  id          bigint generated always as identity primary key,
  project_id  bigint not null references projects on delete cascade,
  user_id     bigint not null references users on delete cascade,
  export_type text not null check (export_type in ('csv', 'cyclonedx_1_6_json', 'spdx_2_3_json')),
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null default now() + interval '7 days'
);
create index on dependency_list_exports (project_id);
create index on dependency_list_exports (user_id);
create index on dependency_list_exports (expires_at);
