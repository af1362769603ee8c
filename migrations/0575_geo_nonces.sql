-- What has been used once in a signature between sites. A table, because several processes answer requests; a site's own, and of no worth after two minutes.
create unlogged table geo_nonces (
  nonce bytea primary key,
  seen_at timestamptz not null default now()
);
create index geo_nonces_by_time on geo_nonces (seen_at);
