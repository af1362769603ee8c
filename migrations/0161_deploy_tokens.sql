-- Tokens that fetch the code of a project, or of all projects below a group, on behalf of no user.
create table deploy_tokens (
  -- Numbered together with access tokens: a credential that was derived from a token names it by its id alone.
  id           bigint primary key default nextval(pg_get_serial_sequence('personal_access_tokens', 'id')),
  project_id   bigint references projects on delete cascade,
  group_id     bigint references namespaces on delete cascade,
  name         text not null,
  username     text not null,
  scopes       text[] not null,
  token_digest bytea not null unique,
  expires_at   timestamptz,
  created_at   timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1),
  constraint deploy_tokens_username_key unique nulls not distinct (project_id, group_id, username)
);
create index deploy_tokens_by_project on deploy_tokens (project_id, id) where project_id is not null;
create index deploy_tokens_by_group on deploy_tokens (group_id, id) where group_id is not null;
