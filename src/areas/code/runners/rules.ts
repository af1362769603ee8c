/** What is known of runners where jobs are shown (docs/reference/runners.md). */

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const;
export type RunnerType = (typeof runnerTypes)[number];

/** A runner or manager without contact for so long is stale. */
export const stale_days = 7;
/** A runner or manager is online for so long after a contact. */
export const online_hours = 2;

export const statuses = ['online', 'offline', 'stale', 'never_contacted'] as const;
export type Status = (typeof statuses)[number];
