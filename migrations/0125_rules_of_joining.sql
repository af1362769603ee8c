-- Who may come in: as members, and as users.
alter table application_settings
  add column signup_enabled                    boolean not null default true,
  add column enable_member_promotion_management boolean not null default false,
  add column seat_control                      text not null default 'off' check (seat_control in ('off', 'block_overages')),
  add column domain_allowlist                  text[] not null default '{}',
  add column domain_denylist_enabled           boolean not null default false,
  add column domain_denylist                   text[] not null default '{}',
  add column email_restrictions_enabled        boolean not null default false,
  add column email_restrictions                text;
