-- Tokens that applications get: with codes that people have agreed to, and in families of refreshed tokens.
alter table oauth_tokens add column application_id bigint;
alter table oauth_tokens add column family_id bigint;
alter table oauth_tokens add column rotated_at timestamp with time zone;
alter table oauth_tokens add column last_used_at timestamp with time zone;
alter table oauth_tokens add column authenticated_at timestamp with time zone;
alter table oauth_tokens add column amr text[];
alter table oauth_tokens add constraint oauth_tokens_application_id_fkey foreign key (application_id) references oauth_applications(id) on delete cascade;
create index oauth_tokens_by_application on oauth_tokens using btree (application_id, user_id);
create index oauth_tokens_by_family on oauth_tokens using btree (coalesce(family_id, id));
comment on table oauth_tokens is 'OAuth access tokens that users got for their password or gave to an application, with their refresh tokens.';
comment on column oauth_tokens.application_id is 'Null for a token that a user got for their password alone.';
comment on column oauth_tokens.family_id is 'The first of the tokens of which each replaced the one before. Null: it is the first.';
comment on column oauth_tokens.rotated_at is 'When its refresh token was used.';
comment on column oauth_tokens.authenticated_at is 'When the user signed in, for ID tokens. Null without a sign-in in a browser.';
comment on column oauth_tokens.amr is 'How the user signed in (RFC 8176).';

create table oauth_codes (
  id bigint generated always as identity not null,
  application_id bigint not null,
  user_id bigint not null,
  digest bytea not null,
  redirect_uri text not null,
  scopes text[] not null,
  code_challenge text,
  nonce text,
  authenticated_at timestamp with time zone not null,
  amr text[] not null,
  created_at timestamp with time zone default now() not null,
  token_id bigint,
  constraint oauth_codes_pkey primary key (id),
  constraint oauth_codes_digest_key unique (digest),
  constraint oauth_codes_application_id_fkey foreign key (application_id) references oauth_applications(id) on delete cascade,
  constraint oauth_codes_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index oauth_codes_by_application on oauth_codes using btree (application_id, user_id);
create index oauth_codes_by_time on oauth_codes using btree (created_at);
create index oauth_codes_by_user on oauth_codes using btree (user_id);
comment on table oauth_codes is 'Codes that applications exchange for tokens, once.';
comment on column oauth_codes.digest is 'SHA-256.';
comment on column oauth_codes.code_challenge is 'Of S256 (RFC 7636).';
comment on column oauth_codes.token_id is 'The token that it was exchanged for. Null: it was not used.';

create table oauth_consents (
  user_id bigint not null,
  application_id bigint not null,
  scopes text[] not null,
  created_at timestamp with time zone default now() not null,
  constraint oauth_consents_pkey primary key (user_id, application_id),
  constraint oauth_consents_application_id_fkey foreign key (application_id) references oauth_applications(id) on delete cascade,
  constraint oauth_consents_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index oauth_consents_by_application on oauth_consents using btree (application_id);
comment on table oauth_consents is 'What users let applications do. They are not asked for it again.';
