-- When a key was last used to connect; updated at most every ten minutes.
alter table keys add column last_used_at timestamptz;
