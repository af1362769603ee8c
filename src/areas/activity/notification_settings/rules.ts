/** Levels and events of notifications (docs/reference/notification_settings.md). */

export const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;

/** Where the user has set none, except that there is nothing above the global scope to inherit from. */
export const defaultLevels = { global: 'participating', group: 'global', project: 'global' } as const;

/** What the level `custom` can turn on. */
export const notificationEvents = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'new_error',
  'regressed_error',
  'error_alert',
  'new_vulnerability',
] as const;

/** On until the user turns them off. */
export const defaultEvents: readonly string[] = ['failed_pipeline', 'fixed_pipeline'];
