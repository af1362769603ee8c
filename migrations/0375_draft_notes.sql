-- Comments on merge requests that only their authors see until they publish them.
create table merge_request_draft_notes (
  id                 bigint primary key generated always as identity,
  merge_request_id   bigint not null references merge_requests on delete cascade,
  author_id          bigint not null references users on delete cascade,
  note               text not null,
  -- The thread that it replies to, which may be gone when it is published.
  discussion_id      text,
  resolve_discussion boolean not null default false,
  -- The commit whose own diff the position is in; null for the diff of a version.
  commit_id          text check (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  position           jsonb,
  line_code          text
);
create index merge_request_draft_notes_in_order on merge_request_draft_notes (merge_request_id, author_id, id);
create index merge_request_draft_notes_by_author on merge_request_draft_notes (author_id);
