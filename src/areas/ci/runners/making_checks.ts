/** Where a person may make a runner. */
import { levels, reasonForReadOnly, refuseReadOnlyGroup, visibleGroup, visibleProject } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badParam, type Caller, forbidden } from '../../../http/index.ts';
import type { RunnerType } from '../../code/runners/index.ts';
import type { RunnerPlace } from './queries.ts';

interface Asked {
  runner_type: RunnerType;
  group_id?: number | undefined;
  project_id?: number | undefined;
}

/** @throws ApiError 403, 404 */
async function groupForNew(db: Database, caller: Caller, id: number): Promise<RunnerPlace> {
  const group = await visibleGroup(db, caller, String(id));
  if (group.access_level < levels.owner) throw forbidden();
  refuseReadOnlyGroup(group);
  return { namespace_id: group.id, project_id: null };
}

/** @throws ApiError 403, 404 */
async function projectForNew(db: Database, caller: Caller, id: number): Promise<RunnerPlace> {
  const project = await visibleProject(db, caller, String(id));
  if (project.access_level < levels.maintainer) throw forbidden();
  if (project.read_only) throw forbidden(reasonForReadOnly(project));
  return { namespace_id: null, project_id: project.id };
}

/**
 * The place of a new runner.
 * @throws ApiError 400 without the group or project of the type, 403, 404
 */
export async function placeForNew(
  db: Database,
  caller: Caller,
  { runner_type, group_id, project_id }: Asked,
): Promise<RunnerPlace> {
  if (runner_type === 'group_type') {
    if (group_id === undefined) throw badParam('group_id', 'is missing');
    return groupForNew(db, caller, group_id);
  }
  if (runner_type === 'project_type') {
    if (project_id === undefined) throw badParam('project_id', 'is missing');
    return projectForNew(db, caller, project_id);
  }
  if (!caller.admin) throw forbidden();
  return { namespace_id: null, project_id: null };
}
