-- Events that wait for their grouping are noted beside them, and name their error at once when it is known: marking each event when it was grouped wrote it
-- a second time, with all of its indexes.
set local lock_timeout = '5s';
create table error_tracking_waiting_events (
  id          bigint primary key,
  received_at timestamptz not null
);
insert into error_tracking_waiting_events (id, received_at)
  select id, received_at from error_tracking_events where digested_at is null;
alter table error_tracking_events drop column digested_at;
