-- Notes of threads on merge requests are resolved one by one; a thread is when all its notes are.
alter table notes
  add column resolved_at timestamptz,
  -- Null when the user is gone, and for threads that were resolved because the code has changed.
  add column resolved_by_id bigint references users on delete set null,
  add constraint notes_resolved_in_threads check (resolved_at is null or (merge_request_id is not null and type is not null and not system)),
  add constraint notes_resolved_by_someone_at_some_time check (resolved_by_id is null or resolved_at is not null);
create index notes_by_resolver on notes (resolved_by_id) where resolved_by_id is not null;
-- Whether a merge request has open threads, also for each one in lists.
create index notes_open_on_merge_request on notes (merge_request_id)
  where merge_request_id is not null and type is not null and not system and resolved_at is null;
