-- Kubernetes clusters of the whole instance. Nothing is ever sent to them from here: this is what is known of them.
create table clusters (
  id                        bigint generated always as identity primary key,
  user_id                   bigint not null references users,
  name                      text not null,
  enabled                   boolean not null default true,
  managed                   boolean not null default true,
  domain                    text,
  -- One cluster for each, also when two are added at the same moment.
  environment_scope         text not null default '*' constraint clusters_environment_scope_key unique,
  namespace_per_environment boolean not null default true,
  management_project_id     bigint references projects on delete set null,
  -- Who made the cluster: only `user` can be added here; what a provider keeps in step cannot be changed.
  provider_type             text not null default 'user' check (provider_type in ('user', 'gcp', 'aws')),
  api_url                   text not null,
  -- Sealed with the secret key.
  token                     bytea not null,
  ca_cert                   text,
  namespace                 text,
  authorization_type        text not null default 'rbac' check (authorization_type in ('rbac', 'abac', 'unknown_authorization')),
  created_at                timestamptz not null default now(),
  updated_at                timestamptz not null default now()
);
create index clusters_by_user on clusters (user_id);
create index clusters_by_management_project on clusters (management_project_id) where management_project_id is not null;

-- Whether addresses of the local network may be given as those of other systems.
alter table application_settings add column allow_local_requests_from_web_hooks_and_services boolean not null default false;
