-- Badges: small pictures with a link, of projects and groups (docs/reference/badges.md).
create table badges (
  id         bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  group_id   bigint references namespaces (id) on delete cascade,
  name       text,
  link_url   text not null,
  image_url  text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint badges_have_one_owner check (num_nonnulls(project_id, group_id) = 1)
);
create index badges_by_project on badges (project_id, created_at, id) where project_id is not null;
create index badges_by_group on badges (group_id, created_at, id) where group_id is not null;
