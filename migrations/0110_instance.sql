-- What a server knows of itself: one row, made at its first start.
create table instance (
  id                 integer primary key default 1 check (id = 1),
  -- Tells the secret key, which is not here: what is sealed with one key cannot be read with another.
  secret_fingerprint bytea not null
);
