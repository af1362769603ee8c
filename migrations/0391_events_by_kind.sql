-- outside a transaction
-- Filters of lists of events: pages of what is rare in a long list are found without reading the rest. The table may be long, and is written meanwhile. An attempt that
-- was interrupted leaves an index that is not valid.
set lock_timeout = '10min';
drop index concurrently if exists events_of_project_by_action;
create index concurrently events_of_project_by_action on events (project_id, action, id);
drop index concurrently if exists events_of_project_by_target;
create index concurrently events_of_project_by_target on events (project_id, target_type, id);
reset lock_timeout;
