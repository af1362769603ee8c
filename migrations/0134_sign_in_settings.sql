-- Settings of who signs in, for how long, and from where.

alter table application_settings
  add column password_authentication_enabled_for_web boolean not null default true,
  add column password_authentication_enabled_for_git boolean not null default true,
  add column notify_on_unknown_sign_in boolean not null default true,
  add column session_expire_delay integer not null default 720 check (session_expire_delay > 0),
  add column session_expire_from_init boolean not null default false,
  add column deactivate_dormant_users boolean not null default false,
  add column deactivate_dormant_users_period integer not null default 90 check (deactivate_dormant_users_period >= 90),
  add column disable_personal_access_tokens boolean not null default false,
  add column globally_allowed_ips text not null default '',
  add column ip_restriction_ranges text not null default '';
comment on column application_settings.session_expire_delay is 'In minutes.';
comment on column application_settings.deactivate_dormant_users_period is 'In days.';
comment on column application_settings.globally_allowed_ips is 'Ranges of addresses, separated by commas, from which every group can be reached.';
comment on column application_settings.ip_restriction_ranges is 'Ranges of addresses, separated by commas, from which alone the server can be reached; empty: from everywhere.';

alter table namespaces add column ip_restriction_ranges text;
comment on column namespaces.ip_restriction_ranges is 'Of top-level groups: ranges of addresses, separated by commas, from which alone the group can be reached.';
create index namespaces_with_address_ranges on namespaces (id) where ip_restriction_ranges is not null;
