-- CI/CD variables of a project, of a group, or of the whole instance (neither).
create table variables (
  id                bigint generated always as identity primary key,
  project_id        bigint references projects on delete cascade,
  group_id          bigint references namespaces on delete cascade,
  key               text not null,
  variable_type     text not null default 'env_var' check (variable_type in ('env_var', 'file')),
  -- Sealed with the secret key.
  value             bytea not null,
  protected         boolean not null default false,
  masked            boolean not null default false,
  -- The value of a hidden variable is never shown again.
  hidden            boolean not null default false,
  raw               boolean not null default false,
  environment_scope text not null default '*',
  description       text,
  check (project_id is null or group_id is null),
  check (masked or not hidden),
  constraint variables_key unique nulls not distinct (project_id, group_id, key, environment_scope)
);
create index variables_by_group on variables (group_id) where group_id is not null;
