/** Settings of error tracking as endpoints and the collector read them. */
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';

/** Whether a project takes errors, how many, and what it is alerted of; undefined when that was never set. */
export const settingsOf = (db: Database, project: Pick<Project, 'id'>) =>
  db
    .selectFrom('error_tracking_settings')
    .select(['active', 'integrated', 'events_per_minute', 'alert_events', 'alert_users', 'alert_minutes'])
    .where('project_id', '=', project.id)
    .executeTakeFirst();
