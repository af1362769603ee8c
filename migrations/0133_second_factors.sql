-- Second factors, sign-ins that wait for one, and who must have one.

alter table web_sessions
  add column authenticated_at timestamptz not null default now(),
  add column methods text[] not null default '{pwd}';
comment on column web_sessions.authenticated_at is 'When the person last proved who they are.';
comment on column web_sessions.methods is 'How they proved it, as in `amr` of RFC 8176.';
comment on column web_sessions.confirmed_at is 'When the password or a second factor was given last.';

create table pending_sign_ins (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  user_id bigint not null references users on delete cascade,
  methods text[] not null,
  is_remembered boolean not null,
  going_to text not null,
  kept text not null,
  created_at timestamptz not null default now()
);
create index pending_sign_ins_by_user on pending_sign_ins (user_id, id);
create index pending_sign_ins_by_time on pending_sign_ins (created_at);
comment on table pending_sign_ins is 'Sign-ins that wait for the second factor. They are no sessions and open nothing.';
comment on column pending_sign_ins.digest is 'SHA-256 of the cookie.';
comment on column pending_sign_ins.going_to is 'The address that was asked for.';
comment on column pending_sign_ins.kept is 'A form that waits, as the browser sent it.';

create table totp_factors (
  user_id bigint primary key references users on delete cascade,
  secret bytea not null,
  created_at timestamptz not null default now(),
  enabled_at timestamptz,
  last_step bigint,
  last_used_at timestamptz
);
comment on table totp_factors is 'Secrets for codes that change with time (RFC 6238).';
comment on column totp_factors.secret is 'In base32, encrypted.';
comment on column totp_factors.enabled_at is 'When a first code was given. Until then, the secret is shown and counts for nothing.';
comment on column totp_factors.last_step is 'The last time step whose code was taken: no code counts twice.';

create table webauthn_credentials (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  is_passkey boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  disabled_at timestamptz
);
create index webauthn_credentials_by_user on webauthn_credentials (user_id, id);
comment on table webauthn_credentials is 'Passkeys and security keys of users.';
comment on column webauthn_credentials.is_passkey is 'Whether it signs in by itself: it verifies the person.';
comment on column webauthn_credentials.disabled_at is 'When its counter went back, as that of a copy does.';

create table used_webauthn_challenges (
  digest bytea primary key,
  used_at timestamptz not null default now()
);
create index used_webauthn_challenges_by_time on used_webauthn_challenges (used_at);
comment on table used_webauthn_challenges is 'Challenges that were answered: none counts twice.';

create table recovery_codes (
  user_id bigint not null references users on delete cascade,
  digest bytea not null,
  used_at timestamptz,
  primary key (user_id, digest)
);
comment on table recovery_codes is 'Codes that count once in place of a second factor.';
comment on column recovery_codes.digest is 'SHA-256 of the code.';

create trigger raise_rights_version after insert or delete or update of user_id, enabled_at on totp_factors for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or delete or update of user_id on webauthn_credentials for each statement execute function raise_rights_version();

alter table application_settings
  add column require_two_factor_authentication boolean not null default false,
  add column require_admin_two_factor_authentication boolean not null default false,
  add column two_factor_grace_period integer not null default 48 check (two_factor_grace_period >= 0);
comment on column application_settings.two_factor_grace_period is 'In hours.';

alter table namespaces
  add column require_two_factor_authentication boolean not null default false,
  add column two_factor_grace_period integer not null default 48 check (two_factor_grace_period >= 0);
comment on column namespaces.two_factor_grace_period is 'In hours.';
create index namespaces_requiring_two_factors on namespaces (id) where require_two_factor_authentication;

alter table users add column second_factor_asked_at timestamptz;
comment on column users.second_factor_asked_at is 'Since when they know that they must have a second factor: the grace period begins.';
drop trigger raise_rights_version on users;
create trigger raise_rights_version after insert or delete or update of username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at, page_theme, page_times, page_time_zone, page_diffs, page_tab_width, page_keys, show_whitespace_in_diffs, second_factor_asked_at on users for each statement execute function raise_rights_version();
