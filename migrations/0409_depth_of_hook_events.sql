-- How many events have led to this one, each by a call that a receiver of the one before has made.
alter table hook_events add depth smallint not null default 0;
