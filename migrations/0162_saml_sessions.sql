-- Which sessions a SAML provider ends when somebody signs out there.
create table saml_sessions (
  id bigint generated always as identity not null,
  provider text not null,
  name_digest bytea not null,
  user_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint saml_sessions_pkey primary key (id),
  constraint saml_sessions_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index saml_sessions_by_name on saml_sessions using btree (provider, name_digest);
create index saml_sessions_by_user on saml_sessions using btree (user_id);
create index saml_sessions_by_age on saml_sessions using btree (created_at);
comment on table saml_sessions is 'Sign-ins by SAML providers, which can end the sessions that they began.';
comment on column saml_sessions.name_digest is 'SHA-256 of the NameID.';
