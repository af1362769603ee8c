-- Merge requests: the third noun that is discussed (decision 25), and their place in the tables that all of them share.
create table merge_requests (
  id                         bigint generated always as identity primary key,
  -- The target: numbers count in it, and it decides who reads.
  project_id                 bigint not null references projects on delete cascade,
  iid                        integer not null,
  -- Null when the fork is gone.
  source_project_id          bigint references projects on delete set null,
  source_branch              text not null,
  target_branch              text not null,
  title                      text not null,
  description                text,
  author_id                  bigint references users,
  -- `locked` while it is being merged.
  state                      text not null default 'opened' check (state in ('opened', 'closed', 'merged', 'locked')),
  draft                      boolean not null generated always as (title ~* '^\s*(draft:|\[draft\]|\(draft\))') stored,
  -- Null until it is first set.
  discussion_locked          boolean,
  milestone_id               bigint references milestones on delete set null,
  -- The head of the source branch when it was last read.
  head_commit_id             text check (head_commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  merge_status               text not null default 'unchecked'
                             check (merge_status in ('unchecked', 'checking', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck')),
  merge_error                text,
  merge_commit_sha           text,
  squash_commit_sha          text,
  merge_user_id              bigint references users on delete set null,
  merged_at                  timestamptz,
  closed_by_id               bigint references users on delete set null,
  closed_at                  timestamptz,
  merge_after                timestamptz,
  prepared_at                timestamptz default now(),
  squash                     boolean not null default false,
  -- What its author asked for, and what was asked for when it was merged.
  force_remove_source_branch boolean,
  should_remove_source_branch boolean,
  -- Whether members of the target who may merge may push to the source branch of a fork.
  allow_collaboration        boolean not null default false,
  -- Who asked to merge it as soon as it can be, and with which parameters of the merge.
  auto_merge_user_id         bigint references users on delete set null,
  auto_merge_parameters      jsonb,
  -- Since when a rebase is under way.
  rebase_started_at          timestamptz,
  time_estimate_s            integer not null default 0,
  total_time_spent_s         integer not null default 0,
  imported_from              text not null default 'none',
  -- Of the description, counted when it is written.
  task_count                 integer not null default 0,
  completed_task_count       integer not null default 0,
  -- What lists are sorted by and replies show, kept by triggers as those of issues are.
  user_notes_count           integer not null default 0,
  upvotes                    integer not null default 0,
  downvotes                  integer not null default 0,
  milestone_due_date         date,
  label_priority             integer,
  created_at                 timestamptz not null default now(),
  updated_at                 timestamptz not null default now(),
  constraint merge_requests_iid_key unique (project_id, iid)
);

-- The states of the source branch that were seen, oldest first. A merge request shows the last.
create table merge_request_versions (
  id                bigint generated always as identity primary key,
  merge_request_id  bigint not null references merge_requests on delete cascade,
  head_commit_sha   text not null,
  -- The merge base; null for histories that have nothing in common.
  base_commit_sha   text,
  -- The head of the target branch at that time.
  start_commit_sha  text not null,
  state             text not null default 'collected' check (state in ('collected', 'overflow', 'without_files')),
  -- Null until they are counted.
  files_count       integer,
  commits_count     integer,
  patch_id_sha      text,
  created_at        timestamptz not null default now()
);
create index merge_request_versions_in_order on merge_request_versions (merge_request_id, id);

alter table merge_requests add column latest_version_id bigint references merge_request_versions on delete set null;

-- One open merge request for each pair of branches.
create unique index merge_requests_one_open on merge_requests (source_project_id, source_branch, project_id, target_branch) where state in ('opened', 'locked');
-- Those that a push to a branch concerns, from it and into it.
create index merge_requests_by_source on merge_requests (source_project_id, source_branch, id) where source_project_id is not null;
create index merge_requests_by_target on merge_requests (project_id, target_branch, id);
create index merge_requests_by_author on merge_requests (author_id, created_at, id);
create index merge_requests_by_milestone on merge_requests (milestone_id) where milestone_id is not null;
create index merge_requests_by_merger on merge_requests (merge_user_id) where merge_user_id is not null;
create index merge_requests_by_closer on merge_requests (closed_by_id) where closed_by_id is not null;
create index merge_requests_by_auto_merger on merge_requests (auto_merge_user_id) where auto_merge_user_id is not null;
create index merge_requests_by_latest_version on merge_requests (latest_version_id) where latest_version_id is not null;
create index merge_requests_by_merge_commit on merge_requests (project_id, merge_commit_sha) where merge_commit_sha is not null;

-- What lists are read by, as those of issues.
create index merge_requests_in_order on merge_requests (project_id, created_at, id) include (state, author_id);
create index merge_requests_by_update on merge_requests (project_id, updated_at, id);
create index merge_requests_by_id on merge_requests (project_id, id);
create index merge_requests_by_title on merge_requests (project_id, lower(title), id);
create index merge_requests_by_merge on merge_requests (project_id, merged_at, id) where merged_at is not null;
create index merge_requests_by_label_priority on merge_requests (project_id, label_priority, id) where label_priority is not null;
create index merge_requests_by_milestone_due on merge_requests (project_id, milestone_due_date, label_priority, id desc) where milestone_due_date is not null;
create index merge_requests_by_votes on merge_requests (project_id, upvotes, id) where upvotes > 0;
create index merge_requests_newest on merge_requests (created_at, id);
create index merge_requests_latest on merge_requests (updated_at, id);
create index merge_requests_search on merge_requests
  using gin (project_id, title gin_trgm_ops, description gin_trgm_ops) with (gin_pending_list_limit = 256);

create table merge_request_assignees (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id          bigint not null references users on delete cascade,
  primary key (merge_request_id, user_id)
);
create index merge_request_assignees_by_user on merge_request_assignees (user_id, merge_request_id);

create table merge_request_reviewers (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id          bigint not null references users on delete cascade,
  state            text not null default 'unreviewed'
                   check (state in ('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started')),
  created_at       timestamptz not null default now(),
  primary key (merge_request_id, user_id)
);
create index merge_request_reviewers_by_user on merge_request_reviewers (user_id, merge_request_id);

create table merge_request_labels (
  merge_request_id bigint not null references merge_requests on delete cascade,
  label_id         bigint not null references labels on delete cascade,
  primary key (merge_request_id, label_id)
);
create index merge_request_labels_by_label on merge_request_labels (label_id, merge_request_id);

-- The issues that its description says it closes.
create table merge_request_closed_issues (
  merge_request_id bigint not null references merge_requests on delete cascade,
  issue_id         bigint not null references issues on delete cascade,
  primary key (merge_request_id, issue_id)
);
create index merge_request_closed_issues_by_issue on merge_request_closed_issues (issue_id, merge_request_id);

alter table internal_ids
  drop constraint internal_ids_usage_check,
  add constraint internal_ids_usage_check check (usage in ('issues', 'milestones', 'epics', 'iterations', 'merge_requests'));

alter table notes
  add column merge_request_id bigint references merge_requests on delete cascade,
  add column refers_to_merge_request_id bigint references merge_requests on delete cascade,
  drop constraint notes_have_one_noteable,
  add constraint notes_have_one_noteable check (num_nonnulls(issue_id, epic_id, merge_request_id, commit_id, snippet_id) = 1);
create index notes_of_merge_request on notes (merge_request_id, created_at, id) where merge_request_id is not null;
create index notes_starting_on_merge_request on notes (merge_request_id, created_at, id) where merge_request_id is not null and starts_discussion;
create index notes_referring_to_merge_request on notes (refers_to_merge_request_id) where refers_to_merge_request_id is not null;
drop index notes_one_mention;
create unique index notes_one_mention
  on notes (issue_id, epic_id, merge_request_id, refers_to_issue_id, refers_to_epic_id, refers_to_merge_request_id, refers_to_project_id, refers_to_commit_id)
  nulls not distinct where is_mention;

alter table award_emoji
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint award_emoji_have_one_awardable,
  add constraint award_emoji_have_one_awardable check (num_nonnulls(issue_id, epic_id, merge_request_id, snippet_id, note_id) = 1);
create unique index award_emoji_of_merge_request on award_emoji (merge_request_id, name, user_id) where merge_request_id is not null;
create index award_emoji_of_merge_request_in_order on award_emoji (merge_request_id, id) where merge_request_id is not null;

alter table subscriptions
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint subscriptions_have_one_object,
  drop constraint subscriptions_key,
  add constraint subscriptions_have_one_object check (num_nonnulls(issue_id, epic_id, merge_request_id, label_id) = 1),
  add constraint subscriptions_key unique nulls not distinct (user_id, issue_id, epic_id, merge_request_id, label_id);
create index subscriptions_to_merge_request on subscriptions (merge_request_id) where merge_request_id is not null;

alter table user_mentions
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint user_mentions_key,
  add constraint user_mentions_key unique nulls not distinct (issue_id, epic_id, merge_request_id, note_id, user_id);
create index user_mentions_by_merge_request on user_mentions (merge_request_id) where merge_request_id is not null;

alter table todos
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint todos_action_name_check,
  add constraint todos_action_name_check
    check (action_name in ('assigned', 'mentioned', 'directly_addressed', 'marked', 'review_requested', 'member_access_requested'));
create index todos_on_merge_request on todos (merge_request_id, user_id) where merge_request_id is not null;
create unique index todos_one_pending_on_merge_request on todos (user_id, merge_request_id) where state = 'pending' and merge_request_id is not null;

alter table timelogs
  alter column issue_id drop not null,
  add column merge_request_id bigint references merge_requests on delete cascade,
  add constraint timelogs_have_one_object check (num_nonnulls(issue_id, merge_request_id) = 1);
create index timelogs_by_merge_request on timelogs (merge_request_id, id) where merge_request_id is not null;

alter table resource_label_events
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint resource_label_events_have_one_resource,
  add constraint resource_label_events_have_one_resource check (num_nonnulls(issue_id, epic_id, merge_request_id) = 1);
create index resource_label_events_of_merge_request on resource_label_events (merge_request_id, id) where merge_request_id is not null;

alter table resource_state_events
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint resource_state_events_have_one_resource,
  drop constraint resource_state_events_state_check,
  add constraint resource_state_events_have_one_resource check (num_nonnulls(issue_id, epic_id, merge_request_id) = 1),
  add constraint resource_state_events_state_check check (state in ('opened', 'closed', 'reopened', 'merged'));
create index resource_state_events_of_merge_request on resource_state_events (merge_request_id, id) where merge_request_id is not null;

alter table resource_milestone_events
  alter column issue_id drop not null,
  add column merge_request_id bigint references merge_requests on delete cascade,
  drop constraint resource_milestone_events_state_check,
  add constraint resource_milestone_events_have_one_resource check (num_nonnulls(issue_id, merge_request_id) = 1),
  add constraint resource_milestone_events_state_check check (state in ('opened', 'closed', 'merged'));
create index resource_milestone_events_of_merge_request on resource_milestone_events (merge_request_id, id) where merge_request_id is not null;
