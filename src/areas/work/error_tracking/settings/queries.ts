/** Queries for the settings of error tracking. */
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';

/** Whether a project accepts errors, how many, and its alert thresholds; undefined if never set. */
export const settingsOf = (db: Database, project: Pick<Project, 'id'>) =>
  db
    .selectFrom('error_tracking_settings')
    .select(['active', 'integrated', 'events_per_minute', 'alert_events', 'alert_users', 'alert_minutes'])
    .where('project_id', '=', project.id)
    .executeTakeFirst();
