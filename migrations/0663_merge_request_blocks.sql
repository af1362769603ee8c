-- Merge requests that are merged after others, also of other projects (docs/reference/merge_requests.md#blocks).
create table merge_request_blocks (
  id          bigint generated always as identity primary key,
  blocking_id bigint not null references merge_requests (id) on delete cascade,
  blocked_id  bigint not null references merge_requests (id) on delete cascade,
  created_at  timestamptz not null default now(),
  unique (blocked_id, blocking_id),
  check (blocking_id <> blocked_id)
);
create index merge_request_blocks_by_blocking on merge_request_blocks (blocking_id, id);
