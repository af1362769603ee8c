/** Adding and changing schedules of pipelines (docs/reference/pipeline_schedules.md). */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import { type Database, isUniqueViolation, stamped } from '../../../db/index.ts';
import { repositoryOf, resolveBranch, resolveTag } from '../../../git/index.ts';
import { forbidden, found, invalid, type Services } from '../../../http/index.ts';
import { limitsOf } from '../../instance/plan_limits/index.ts';
import { mostVariables } from '../running/parameters.ts';
import { refuseUnstorable } from '../running/start_actions.ts';
import { type Granted, mayRunOn } from './access.ts';
import { valuePurpose } from './queries.ts';
import { nextRun } from './rules.ts';

export const refusedTexts = {
  many: (most: number | string) => `Maximum number of pipeline schedules (${most}) exceeded`,
  manyVariables: `Maximum number of variables (${mostVariables}) exceeded`,
  ambiguous: 'is ambiguous',
  unknown: 'does not exist',
  taken: 'has already been taken',
};

export interface ScheduleChanges {
  description?: string;
  ref?: string;
  cron?: string;
  cron_timezone?: string;
  active?: boolean;
  inputs?: readonly GivenInput[];
}

/** A value for an input. */
interface GivenInput {
  name: string;
  value?: unknown;
  /** Whether the schedule has no value for it any more. */
  destroy?: boolean;
}

/** A schedule as it is asked for. */
export type NewSchedule = ScheduleChanges & Required<Pick<ScheduleChanges, 'description' | 'ref' | 'cron'>>;

/**
 * The full name of a branch or tag, which the caller may run pipelines for.
 * @throws ApiError 400 by field, 403
 */
async function refGiven(services: Services, granted: Granted, given: string): Promise<string> {
  const repository = repositoryOf(services, granted.project);
  const name = given.replace(/^refs\/(?:heads|tags)\//, '');
  const [branch, tag] = await Promise.all([
    given.startsWith('refs/tags/') ? undefined : resolveBranch(repository, name),
    given.startsWith('refs/heads/') ? undefined : resolveTag(repository, name),
  ]);
  if (branch !== undefined && tag !== undefined) throw invalid({ ref: [refusedTexts.ambiguous] });
  if (branch === undefined && tag === undefined) throw invalid({ ref: [refusedTexts.unknown] });
  const ref = `refs/${branch === undefined ? 'tags' : 'heads'}/${name}`;
  if (!(await mayRunOn(granted, ref))) throw forbidden();
  return ref;
}

/** Locks the row of the project, so that concurrent requests cannot exceed the limit together. */
async function refuseTooMany(tx: Database, project: Project): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', project.id).forNoKeyUpdate().executeTakeFirst();
  const most = (await limitsOf(tx)).ci_pipeline_schedules;
  if (most === 0) return;
  const { count } = await tx
    .selectFrom('pipeline_schedules')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  if (count >= most) throw invalid({ base: [refusedTexts.many(most)] });
}

type Inputs = Record<string, unknown>;

/** The values of a schedule by name, with those that are given. @throws ApiError 400 */
function withInputs(before: Inputs, given: readonly GivenInput[]): Inputs {
  const values = new Map(Object.entries(before));
  for (const { name, value = null, destroy } of given) destroy ? values.delete(name) : values.set(name, value);
  const inputs = Object.fromEntries(values);
  refuseUnstorable(inputs);
  return inputs;
}

/** Trims the cron line, and writes inputs as the database takes them. */
const columnsOf = <C extends ScheduleChanges>({ cron, inputs, ...rest }: C, before: Inputs = {}) => ({
  ...rest,
  ...(cron === undefined ? {} : { cron: cron.trim() }),
  ...(inputs === undefined ? {} : { inputs: JSON.stringify(withInputs(before, inputs)) }),
});

/**
 * Adds a schedule, which the caller owns.
 * @returns its id
 * @throws ApiError 400 by field, 403 unless the caller may run pipelines for the branch or tag
 */
export async function addSchedule(services: Services, granted: Granted, given: NewSchedule): Promise<number> {
  const { project, caller } = granted;
  const ref = await refGiven(services, granted, given.ref);
  const { cron, cron_timezone = 'UTC' } = given;
  const row = {
    ...columnsOf({ ...given, ref, cron }),
    cron: cron.trim(),
    next_run_at: nextRun({ cron, cron_timezone, last_run_at: null }, new Date()),
  };
  return services.db.transaction().execute(async (tx) => {
    await refuseTooMany(tx, project);
    const added = tx.insertInto('pipeline_schedules').values({ ...row, project_id: project.id, owner_id: caller.id });
    return (await added.returning('id').executeTakeFirstOrThrow()).id;
  });
}

/** What decides on the time of the next run. */
const timing = ['cron', 'cron_timezone', 'active'] as const;

/**
 * Changes a schedule of the caller.
 * @throws ApiError 400 by field, 403, 404
 */
export async function changeSchedule(
  services: Services,
  granted: Granted,
  id: number,
  { ref: given, ...changes }: ScheduleChanges,
): Promise<void> {
  const ref = given === undefined ? undefined : await refGiven(services, granted, given);
  await services.db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('pipeline_schedules').select([...timing, 'last_run_at', 'inputs']);
    const before = found('Pipeline Schedule', await query.where('id', '=', id).forUpdate().executeTakeFirst());
    const set = columnsOf({ ...changes, ...(ref === undefined ? {} : { ref }) }, before.inputs as Inputs);
    const after = { ...before, ...set };
    const isTimed = timing.some((name) => after[name] !== before[name]);
    if (Object.keys(set).length === 0) return;
    await tx
      .updateTable('pipeline_schedules')
      .set({ ...stamped(set), ...(isTimed && { next_run_at: nextRun(after, new Date()) }) })
      .where('id', '=', id)
      .execute();
  });
}

/**
 * Makes a user the owner of a schedule.
 * @returns whether somebody else was
 */
export async function takeOver(db: Database, id: number, user_id: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('pipeline_schedules')
    .set({ owner_id: user_id, updated_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('owner_id', '<>', user_id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

interface ScheduleVariable {
  key: string;
  value: string;
  variable_type?: string;
}

/**
 * Adds a variable to a schedule.
 * @throws ApiError 400 by field, 404
 */
export const addVariable = (
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  schedule_id: number,
  { value, ...variable }: ScheduleVariable,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const schedule = tx.selectFrom('pipeline_schedules').select('id').where('id', '=', schedule_id);
    found('Pipeline Schedule', await schedule.forNoKeyUpdate().executeTakeFirst());
    const { count } = await tx
      .selectFrom('pipeline_schedule_variables')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('schedule_id', '=', schedule_id)
      .executeTakeFirstOrThrow();
    if (count >= mostVariables) throw invalid({ base: [refusedTexts.manyVariables] });
    const row = { variable_type: 'env_var', ...variable, schedule_id, value: secrets.seal(valuePurpose, value) };
    try {
      await tx.insertInto('pipeline_schedule_variables').values(row).execute();
    } catch (error) {
      if (isUniqueViolation(error, 'pipeline_schedule_variables_key')) throw invalid({ key: [refusedTexts.taken] });
      throw error;
    }
  });

/**
 * Changes a variable of a schedule.
 * @throws ApiError 404
 */
export async function changeVariable(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  schedule_id: number,
  key: string,
  { value, variable_type }: { value?: string; variable_type?: string },
): Promise<void> {
  const set = {
    ...(variable_type === undefined ? {} : { variable_type }),
    ...(value === undefined ? {} : { value: secrets.seal(valuePurpose, value) }),
  };
  if (Object.keys(set).length === 0) return;
  const query = db.updateTable('pipeline_schedule_variables').set(set).where('schedule_id', '=', schedule_id);
  found('Variable', await query.where('key', '=', key).returning('id').executeTakeFirst());
}
