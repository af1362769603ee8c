-- Public SSH keys, by which others recognise what a user has signed.
create table keys (
  id                 bigint generated always as identity primary key,
  user_id            bigint not null references users on delete cascade,
  title              text not null,
  key                text not null,
  -- Of the key alone, without its comment: base64 of the SHA-256, as OpenSSH shows it.
  fingerprint_sha256 text not null unique,
  usage_type         text not null default 'auth_and_signing' check (usage_type in ('auth', 'signing', 'auth_and_signing')),
  expires_at         timestamptz,
  created_at         timestamptz not null default now()
);
create index keys_by_user on keys (user_id, id);
