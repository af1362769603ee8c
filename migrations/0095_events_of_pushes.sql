-- A push that moves more branches or tags than this is one event.
alter table application_settings add column push_event_activities_limit integer not null default 3 check (push_event_activities_limit >= 0);
