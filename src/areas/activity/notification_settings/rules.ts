/** Levels and events of notifications (docs/reference/notification_settings.md). */

export const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;

/** The levels if the user has set none; the global scope has nothing to inherit from. */
export const defaultLevels = { global: 'participating', group: 'global', project: 'global' } as const;

/** The events that are on until the user turns them off. */
export const defaultEvents: readonly string[] = ['failed_pipeline', 'fixed_pipeline'];
