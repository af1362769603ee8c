-- Access tokens that people get for their password, for two hours each, with a token to refresh them.
create table oauth_tokens (
  -- Numbered together with access tokens: a credential that was derived from a token names it by its id alone.
  id             bigint primary key default nextval(pg_get_serial_sequence('personal_access_tokens', 'id')),
  user_id        bigint not null references users on delete cascade,
  token_digest   bytea not null unique,
  refresh_digest bytea not null unique,
  scopes         text[] not null,
  revoked        boolean not null default false,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null
);
create index oauth_tokens_by_user on oauth_tokens (user_id);
create index oauth_tokens_by_time on oauth_tokens (created_at);
