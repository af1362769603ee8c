-- Of what a user wants to be notified: everywhere, in a group, or in a project. Without a row, the default of its scope applies.
create table notification_settings (
  id         bigint generated always as identity primary key,
  user_id    bigint not null references users on delete cascade,
  group_id   bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  level      text not null check (level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')),
  -- Those that are on; they count at the level `custom`.
  events     text[] not null,
  -- Where the mail goes; null is the primary address. A deleted address leaves it null.
  email_id   bigint references emails on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint notification_settings_key unique nulls not distinct (user_id, group_id, project_id),
  constraint notification_settings_have_one_scope check (num_nonnulls(group_id, project_id) <= 1),
  -- There is nothing above to inherit from.
  constraint notification_settings_end_somewhere check (level <> 'global' or num_nonnulls(group_id, project_id) = 1),
  constraint notification_settings_email_is_global check (email_id is null or num_nonnulls(group_id, project_id) = 0)
);
create index notification_settings_of_group on notification_settings (group_id) where group_id is not null;
create index notification_settings_of_project on notification_settings (project_id) where project_id is not null;
create index notification_settings_by_email on notification_settings (email_id) where email_id is not null;
