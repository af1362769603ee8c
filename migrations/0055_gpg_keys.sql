-- Public OpenPGP keys, by which others recognise what a user has signed.
create table gpg_keys (
  id          bigint generated always as identity primary key,
  user_id     bigint not null references users on delete cascade,
  -- The block as it was given, from its first line to its last.
  key         text not null,
  -- Of the primary key (RFC 9580, section 5.5.4).
  fingerprint bytea not null unique,
  created_at  timestamptz not null default now()
);
create index gpg_keys_by_user on gpg_keys (user_id, id);
