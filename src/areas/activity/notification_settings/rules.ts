/** Levels and events of notifications (docs/reference/notification_settings.md). */

export const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;

/** Where the user has set none, except that there is nothing above the global scope to inherit from. */
export const defaultLevels = { global: 'participating', group: 'global', project: 'global' } as const;

/** On until the user turns them off. */
export const defaultEvents: readonly string[] = ['failed_pipeline', 'fixed_pipeline'];
