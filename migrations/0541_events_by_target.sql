-- outside a transaction
-- The events about a record leave with it.
set lock_timeout = '10min';
drop index concurrently if exists events_by_target;
create index concurrently events_by_target on events (target_id, target_type);
