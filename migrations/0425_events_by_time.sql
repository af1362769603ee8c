-- outside a transaction
-- Lists of the events before or after a day are in the order of their times. The table may be long, and is written meanwhile.
set lock_timeout = '10min';
drop index concurrently if exists events_of_project_by_time;
create index concurrently events_of_project_by_time on events (project_id, created_at, id);
drop index concurrently if exists events_of_author_by_time;
create index concurrently events_of_author_by_time on events (author_id, created_at, id);
reset lock_timeout;
