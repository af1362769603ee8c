-- Devices without a browser, whose codes people enter elsewhere, and what administrators decide about OAuth.
alter table application_settings add column user_oauth_applications boolean default true not null;
alter table application_settings add column ropc_without_client_credentials boolean default true not null;
comment on column application_settings.user_oauth_applications is 'Whether users can register applications of their own.';
comment on column application_settings.ropc_without_client_credentials is 'Whether a password gives an OAuth token without an application.';

create table oauth_device_codes (
  id bigint generated always as identity not null,
  application_id bigint not null,
  device_digest bytea not null,
  user_digest bytea not null,
  scopes text[] not null,
  interval_s integer not null,
  polled_at timestamp with time zone,
  user_id bigint,
  denied boolean default false not null,
  authenticated_at timestamp with time zone,
  amr text[],
  created_at timestamp with time zone default now() not null,
  token_id bigint,
  constraint oauth_device_codes_pkey primary key (id),
  constraint oauth_device_codes_device_digest_key unique (device_digest),
  constraint oauth_device_codes_user_digest_key unique (user_digest),
  constraint oauth_device_codes_application_id_fkey foreign key (application_id) references oauth_applications(id) on delete cascade,
  constraint oauth_device_codes_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index oauth_device_codes_by_application on oauth_device_codes using btree (application_id);
create index oauth_device_codes_by_time on oauth_device_codes using btree (created_at);
create index oauth_device_codes_by_user on oauth_device_codes using btree (user_id);
comment on table oauth_device_codes is 'Devices that wait until a person has entered their code (RFC 8628).';
comment on column oauth_device_codes.device_digest is 'SHA-256 of what the device asks with.';
comment on column oauth_device_codes.user_digest is 'SHA-256 of the letters that the person enters.';
comment on column oauth_device_codes.interval_s is 'How many seconds the device has to wait between two questions.';
comment on column oauth_device_codes.user_id is 'Who has decided. Null: nobody yet.';
comment on column oauth_device_codes.denied is 'Whether they did not agree.';
comment on column oauth_device_codes.amr is 'How they had signed in (RFC 8176).';
comment on column oauth_device_codes.token_id is 'The token that the device got. Null: none yet.';
