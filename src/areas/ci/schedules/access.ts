/** Who may change schedules of pipelines (docs/reference/pipeline_schedules.md#permissions). */
import { levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, forbidden, found } from '../../../http/index.ts';
import { rightsOn } from '../configuration/variable_queries.ts';

export interface Granted {
  db: Database;
  project: Project;
  caller: Caller;
}

export interface OwnedSchedule {
  id: number;
  ref: string;
  owner_id: number;
  updated_at: string;
}

/** @throws ApiError 404 */
export async function scheduleIn({ db, project }: Pick<Granted, 'db' | 'project'>, id: number): Promise<OwnedSchedule> {
  const query = db
    .selectFrom('pipeline_schedules')
    .select(['id', 'ref', 'owner_id', 'updated_at'])
    .where('id', '=', id);
  return found('Pipeline Schedule', await query.where('project_id', '=', project.id).executeTakeFirst());
}

/** Whether the caller may change the variables of a schedule, and delete it. */
export const mayManage = ({ project, caller }: Pick<Granted, 'project' | 'caller'>, owner_id: number): boolean =>
  owner_id === caller.id || project.access_level >= levels.maintainer;

/**
 * A schedule that the caller may delete, and whose variables they may change.
 * @throws ApiError 403, 404
 */
export async function managedSchedule(granted: Granted, id: number): Promise<OwnedSchedule> {
  const schedule = await scheduleIn(granted, id);
  if (!mayManage(granted, schedule.owner_id)) throw forbidden();
  return schedule;
}

/**
 * A schedule of the caller.
 * @throws ApiError 403, 404
 */
export async function ownSchedule(granted: Granted, id: number): Promise<OwnedSchedule> {
  const schedule = await scheduleIn(granted, id);
  if (schedule.owner_id !== granted.caller.id) throw forbidden();
  return schedule;
}

/**
 * Whether the caller may run pipelines for a branch or tag.
 * @param ref its full name
 */
export async function mayRunOn({ db, project, caller }: Granted, ref: string): Promise<boolean> {
  const type = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  return (await rightsOn(db, project, caller, { type, name })).may_run;
}
