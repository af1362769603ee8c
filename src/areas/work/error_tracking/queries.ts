/** Settings of error tracking as endpoints and the collector read them. */
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** Whether a project takes errors, and how many; undefined when that was never set. */
export const settingsOf = (db: Database, project: Pick<Project, 'id'>) =>
  db
    .selectFrom('error_tracking_settings')
    .select(['active', 'integrated', 'events_per_minute'])
    .where('project_id', '=', project.id)
    .executeTakeFirst();
