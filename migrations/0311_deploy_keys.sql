-- A key belongs to a user, or it is a deploy key, which belongs to projects: a fingerprint is unique among both.
alter table keys alter column user_id drop not null;
alter table keys add column created_by_id bigint references users (id) on delete set null;
create index keys_by_creator on keys (created_by_id) where created_by_id is not null;

create table deploy_key_projects (
  key_id bigint not null references keys (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  can_push boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (key_id, project_id)
);
create index deploy_key_projects_by_project on deploy_key_projects (project_id, key_id);
