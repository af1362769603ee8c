-- Bodies of webhooks are made by the job from rows, and no longer in the transaction of the change. Rows with facts, also from processes of the version before, are still announced by the job of their time.
set local lock_timeout = '5s';
alter table hook_events
  add column event text,
  add column snapshot json,
  drop constraint hook_events_check,
  add constraint hook_events_check check (num_nonnulls(facts, snapshot, body) = 1);
comment on column hook_events.event is 'The kind of event, whose presenter makes the body. Null for samples of system hooks, and for events of versions before 0.1.0.';
comment on column hook_events.snapshot is 'The rows from which the body will be made, as they were in the transaction of the change.';
comment on column hook_events.facts is 'What the body is made from, in events of versions before 0.1.0.';
