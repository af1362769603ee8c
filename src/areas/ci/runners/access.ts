/** Who may see and change a runner (docs/reference/runners.md#permissions). */
import { sql } from 'kysely';
import { groupFor, holds, levels, type Permission, projectLevel, projectPermissions } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, forbidden, idIn, notFound, unauthorized } from '../../../http/index.ts';
import type { RunnerType } from '../../code/runners/index.ts';

/** A runner, as rules look at it. */
export interface GrantedRunner {
  id: number;
  runner_type: RunnerType;
  namespace_id: number | null;
  is_registered: boolean;
  locked: boolean;
}

/** What the caller may do with a runner. */
interface Rights {
  /** Whether they see it because of where it is. */
  reads: boolean;
  /** Whether they may change it. */
  manages: boolean;
  /** Whether they may assign it to further projects. */
  assigns: boolean;
}

export const noAccess = 'No access granted';
const everything = { reads: true, manages: true, assigns: true };
const nothing = { reads: false, manages: false, assigns: false };

async function rightsInProjects(db: Database, caller: Caller, { id }: GrantedRunner): Promise<Rights> {
  const { rows } = await sql<{ level: number; permissions: Permission[] }>`
    select ${projectLevel(caller)} as level, ${projectPermissions(caller)} as permissions
      from runner_projects join projects on projects.id = project_id where runner_id = ${id}`.execute(db);
  const isMaintainer = ({ level }: { level: number }) => level >= levels.maintainer;
  return {
    reads: rows.some((row) => isMaintainer(row) || row.permissions.includes('read_runners')),
    manages: rows.length > 0 && rows.every(isMaintainer),
    assigns: rows.some(isMaintainer),
  };
}

/** The rights of a caller on a runner. */
export async function rightsOn(db: Database, caller: Caller, runner: GrantedRunner): Promise<Rights> {
  if (caller.admin) return everything;
  if (runner.runner_type === 'project_type') return rightsInProjects(db, caller, runner);
  if (runner.namespace_id === null) return nothing;
  const group = await groupFor(db, caller, String(runner.namespace_id));
  if (!group) return nothing;
  const manages = group.access_level >= levels.owner;
  return { reads: holds(group, 'read_runners', 'group'), manages, assigns: manages };
}

/**
 * The runner that a request names.
 * @throws ApiError 404
 */
export async function runnerNamed(db: Database, id: number | undefined): Promise<GrantedRunner> {
  const query = db
    .selectFrom('runners')
    .select(['id', 'namespace_id', 'is_registered', 'locked'])
    .select((q) => q.ref('runner_type').$castTo<RunnerType>().as('runner_type'));
  const runner = id === undefined ? undefined : await query.where('id', '=', id).executeTakeFirst();
  if (!runner) throw notFound('Runner');
  return runner;
}

const ruled = (
  rule: string,
  isAllowed: (rights: Rights, runner: GrantedRunner) => boolean,
): Access<{ caller: Caller; runner: GrantedRunner }> => ({
  rule,
  async check({ db, caller, params }) {
    if (!caller) throw unauthorized();
    const runner = await runnerNamed(db, idIn(params.runner_id!));
    if (!isAllowed(await rightsOn(db, caller, runner), runner)) throw forbidden(noAccess);
    return { caller, runner };
  },
});

/** Grants the runner in `:runner_id` to who sees it where it is, and one of the instance to every signed-in user. */
export const runnerReader = ruled(
  'runner:reader or read_runners',
  ({ reads }, { runner_type }) => reads || runner_type === 'instance_type',
);

/** The same without runners of the instance, for what tells of the places of others. */
export const runnerInsider = ruled('runner:insider or read_runners', ({ reads }) => reads);

/** Grants the runner to Maintainers of all its projects, and to Owners of its group. */
export const runnerManager = ruled('runner:manager', ({ manages }) => manages);
