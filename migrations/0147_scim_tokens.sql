-- The credential of the program that provisions accounts (docs/reference/scim.md). There is one at most.
create table scim_tokens (
  id smallint primary key default 1 check (id = 1),
  token_digest bytea not null,
  created_at timestamptz not null default now()
);
comment on table scim_tokens is 'The token with which SCIM provisions accounts, in one row at most.';
comment on column scim_tokens.token_digest is 'The SHA-256 of the token.';
