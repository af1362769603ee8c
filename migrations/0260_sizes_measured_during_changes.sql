-- Counts what sets `is_stale`, so that a repository that changes while it is being measured stays stale.
alter table repository_sizes add column changes bigint not null default 0;
