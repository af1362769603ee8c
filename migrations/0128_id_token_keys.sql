-- The key that signs the ID tokens of jobs.
create table id_token_keys (
  id bigint default 1 not null,
  private_key bytea not null,
  public_key jsonb not null,
  created_at timestamp with time zone default now() not null,
  constraint id_token_keys_pkey primary key (id),
  constraint id_token_keys_single_check check (id = 1)
);
comment on table id_token_keys is 'The key with which the server signs the ID tokens of jobs. There is one.';
comment on column id_token_keys.private_key is 'Encrypted.';
comment on column id_token_keys.public_key is 'As it is published, in the form of a JSON Web Key.';
