-- Who may connect runners to what, and whose jobs they take.
alter table application_settings
  add column allow_runner_registration_token boolean default true not null,
  add column runner_token_expiration_interval integer,
  add column runner_registration_version integer default 0 not null,
  add constraint application_settings_runner_token_expiration_interval_check check (runner_token_expiration_interval >= 7200);
comment on column application_settings.runner_token_expiration_interval is 'Seconds after which the token of a runner expires; null: never.';
comment on column application_settings.runner_registration_version is 'How often the token with which runners of the instance register was replaced. The token follows from it and the secret key.';

alter table namespaces
  add column shared_runners_setting text default 'enabled' not null,
  add column allow_runner_registration_token boolean default true not null,
  add column runner_token_expiration_interval integer,
  add column runner_registration_version integer default 0 not null,
  add constraint namespaces_runner_token_expiration_interval_check check (runner_token_expiration_interval >= 7200),
  add constraint namespaces_shared_runners_setting_check check (shared_runners_setting in ('enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'));
comment on column namespaces.shared_runners_setting is 'Whether runners of the instance may take jobs of the projects below, and whether a project may decide otherwise.';
comment on column namespaces.runner_registration_version is 'How often the token with which runners of the group register was replaced.';

alter table projects
  add column shared_runners_enabled boolean,
  add column group_runners_enabled boolean default true not null,
  add column runner_token_expiration_interval integer,
  add column runner_registration_version integer default 0 not null,
  add constraint projects_runner_token_expiration_interval_check check (runner_token_expiration_interval >= 7200);
comment on column projects.shared_runners_enabled is 'Whether runners of the instance may take its jobs, unless a group above forbids it; null: as the groups above say.';
comment on column projects.group_runners_enabled is 'Whether runners of the groups above may take its jobs.';
comment on column projects.runner_registration_version is 'How often the token with which runners of the project register was replaced.';

create index runners_of_instance on runners using btree (id) where runner_type = 'instance_type';
