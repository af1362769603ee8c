-- A move of references that merges a merge request: what becomes of it when the branch has moved. Until then the merge request is locked.
alter table reference_updates
  add column merge_request_id bigint references merge_requests on delete set null,
  -- {"head": "<id>", "merge_commit_sha": "<id>" or null, "squash_commit_sha": "<id>" or null}
  add column merge jsonb;
create index reference_updates_by_merge_request on reference_updates (merge_request_id) where merge_request_id is not null;

alter table merge_requests
  -- Where its branches were when its merge status was computed; of branches that have moved since, it says nothing.
  add column checked_source_sha text,
  add column checked_target_sha text,
  -- Whether the source branch was deleted, as a system note says.
  add column source_branch_gone boolean not null default false,
  -- Merged, but what follows from it is not written yet.
  add column merge_unconcluded boolean not null default false;
-- Those that a push to their target branch concerns, among many that are merged.
create index merge_requests_open_into on merge_requests (project_id, target_branch, id) where state in ('opened', 'locked');
create index merge_requests_with_auto_merge on merge_requests (head_commit_id) where auto_merge_user_id is not null;
