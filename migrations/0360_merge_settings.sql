-- How the merge requests of a project are merged.
alter table projects
  add column merge_method text not null default 'merge' check (merge_method in ('merge', 'rebase_merge', 'ff')),
  add column squash_option text not null default 'default_off' check (squash_option in ('never', 'always', 'default_on', 'default_off')),
  add column only_allow_merge_if_pipeline_succeeds boolean not null default false,
  -- Null until it is first set, which means false.
  add column allow_merge_on_skipped_pipeline boolean,
  add column only_allow_merge_if_all_discussions_are_resolved boolean not null default false,
  add column remove_source_branch_after_merge boolean not null default true,
  add column resolve_outdated_diff_discussions boolean not null default false,
  add column printing_merge_request_link_enabled boolean not null default true,
  add column autoclose_referenced_issues boolean not null default true,
  -- Templates of messages, null for the usual ones.
  add column suggestion_commit_message text check (char_length(suggestion_commit_message) <= 255),
  add column merge_commit_template text check (char_length(merge_commit_template) <= 500),
  add column squash_commit_template text check (char_length(squash_commit_template) <= 500),
  add column merge_requests_template text;
