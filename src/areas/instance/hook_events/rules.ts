/** The triggers of hooks: the columns of `hooks` with the subscriptions. */

/** The name of each trigger's event in the header `X-Gitlab-Event`, and in the log. */
export const triggers = {
  push_events: { event: 'Push Hook', log: 'push_hooks' },
  tag_push_events: { event: 'Tag Push Hook', log: 'tag_push_hooks' },
  merge_requests_events: { event: 'Merge Request Hook', log: 'merge_request_hooks' },
  repository_update_events: { event: 'System Hook', log: 'repository_update_hooks' },
  issues_events: { event: 'Issue Hook', log: 'issue_hooks' },
  confidential_issues_events: { event: 'Confidential Issue Hook', log: 'confidential_issue_hooks' },
  note_events: { event: 'Note Hook', log: 'note_hooks' },
  confidential_note_events: { event: 'Confidential Note Hook', log: 'confidential_note_hooks' },
  milestone_events: { event: 'Milestone Hook', log: 'milestone_hooks' },
  wiki_page_events: { event: 'Wiki Page Hook', log: 'wiki_page_hooks' },
  emoji_events: { event: 'Emoji Hook', log: 'emoji_hooks' },
  resource_access_token_events: { event: 'Resource Access Token Hook', log: 'resource_access_token_hooks' },
  error_events: { event: 'Error Hook', log: 'error_hooks' },
  feature_flag_events: { event: 'Feature Flag Hook', log: 'feature_flag_hooks' },
  vulnerability_events: { event: 'Vulnerability Hook', log: 'vulnerability_hooks' },
  job_events: { event: 'Job Hook', log: 'job_hooks' },
  pipeline_events: { event: 'Pipeline Hook', log: 'pipeline_hooks' },
  deployment_events: { event: 'Deployment Hook', log: 'deployment_hooks' },
  releases_events: { event: 'Release Hook', log: 'release_hooks' },
  member_events: { event: 'Member Hook', log: 'member_hooks' },
  subgroup_events: { event: 'Subgroup Hook', log: 'subgroup_hooks' },
  project_events: { event: 'Project Hook', log: 'project_hooks' },
  /** Triggers the streaming destinations that ask for the event, and no hook; not a column. */
  audit_events: { event: 'Audit Event', log: 'audit_events' },
  /** Triggers every system hook; not a column. */
  system_events: { event: 'System Hook', log: 'system_hooks' },
} as const;

export type Trigger = keyof typeof triggers;
