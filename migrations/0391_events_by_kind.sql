-- Filters of lists of events: pages of what is rare in a long list are found without reading the rest.
set local lock_timeout = '5s';
create index events_of_project_by_action on events (project_id, action, id);
create index events_of_project_by_target on events (project_id, target_type, id);
