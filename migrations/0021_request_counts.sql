-- How often somebody has asked in the window that runs, for every limit that is on. All processes count here; after a crash they begin again.
create unlogged table request_counts (
  -- The setting that holds the limit.
  name    text not null,
  -- `user:<id>` or an address.
  who     text not null,
  ends_at timestamptz not null,
  count   integer not null,
  primary key (name, who)
);
create index request_counts_by_end on request_counts (ends_at);
