-- The commits of the last version of each merge request, at most the 1,000 newest, by which the merge requests of a commit are found.
create table merge_request_commits (
  merge_request_id bigint not null references merge_requests on delete cascade,
  sha              text not null,
  primary key (merge_request_id, sha)
);
create index merge_request_commits_by_commit on merge_request_commits (sha, merge_request_id);
create index merge_requests_by_squash_commit on merge_requests (project_id, squash_commit_sha) where squash_commit_sha is not null;

-- Commits of the target project that were added to a merge request because it builds upon them.
create table merge_request_context_commits (
  merge_request_id bigint not null references merge_requests on delete cascade,
  sha              text not null,
  primary key (merge_request_id, sha)
);
