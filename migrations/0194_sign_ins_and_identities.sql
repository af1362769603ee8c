-- Sign-ins with a password: how many, and when and from where the last two were made.
alter table users
  add column sign_in_count      integer not null default 0,
  add column current_sign_in_at timestamptz,
  add column last_sign_in_at    timestamptz,
  add column current_sign_in_ip text,
  add column last_sign_in_ip    text;

-- Who users are at providers of accounts elsewhere, as administrators say.
create table user_identities (
  user_id    bigint not null references users on delete cascade,
  provider   text not null,
  extern_uid text not null,
  primary key (user_id, provider),
  constraint user_identities_extern_uid_key unique (provider, extern_uid)
);
