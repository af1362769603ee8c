/** Making runners, and giving them other tokens. */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import { deleteFound, forbidden, found, invalid } from '../../../http/index.ts';
import { stale_days } from '../../code/runners/index.ts';
import { limitsOf } from '../../instance/plan_limits/index.ts';
import { expiryAt, placeOf, type RunnerPlace } from './queries.ts';
import { type RunnerSettings, settingReasons, usualSettings } from './rules.ts';

export interface NewRunner extends RunnerPlace {
  /** Null for one that registers itself. */
  created_by_id: number | null;
  settings: Partial<RunnerSettings>;
}

/** A runner with its token, which is not stored and cannot be shown again. */
export interface MadeRunner {
  id: number;
  token: string;
  token_expires_at: string | null;
}

const newRunnerToken = (is_registered: boolean) => newTokenValue(is_registered ? '' : 'glrt-');

export const tooManyTexts = (['group', 'project'] as const).map((kind) => `base: ${tooManyText(kind, '<limit>')}`);

function tooManyText(kind: 'group' | 'project', most: number | string): string {
  return `Maximum number of ci registered ${kind} runners (${most}) exceeded`;
}

/**
 * Locks the group or project, so that concurrent requests cannot exceed the limit of its runners.
 * @throws ApiError 400
 */
export async function checkLimit(tx: Database, { namespace_id, project_id }: RunnerPlace): Promise<void> {
  const kind = project_id === null ? 'group' : 'project';
  const limits = await limitsOf(tx);
  const most = limits[`ci_registered_${kind}_runners`];
  if (most === 0) return;
  await sql`select from ${sql.table(kind === 'group' ? 'namespaces' : 'projects')} where id = ${project_id ?? namespace_id} for no key update`.execute(
    tx,
  );
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from runners
     where coalesce(contacted_at, created_at) > now() - make_interval(days => ${stale_days})
       and ${kind === 'group' ? sql`namespace_id = ${namespace_id}` : sql`id in (select runner_id from runner_projects where project_id = ${project_id})`}`.execute(
    tx,
  );
  if (rows[0]!.count >= most) throw invalid({ base: [tooManyText(kind, most)] });
}

/**
 * Makes a runner (docs/reference/runners.md#making-a-runner).
 * @throws ApiError 400 for wrong settings and too many runners
 */
export function makeRunner(db: Database, { namespace_id, project_id, created_by_id, settings }: NewRunner) {
  const complete = { ...usualSettings, ...settings };
  const reasons = settingReasons(complete);
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
  const is_registered = created_by_id === null;
  const token = newRunnerToken(is_registered);
  const place = { namespace_id, project_id };
  return db.transaction().execute(async (tx): Promise<MadeRunner> => {
    if (namespace_id !== null || project_id !== null) await checkLimit(tx, place);
    const made = await tx
      .insertInto('runners')
      .values({
        ...complete,
        tag_list: sql`${[...complete.tag_list]}::text[]`,
        runner_type: project_id !== null ? 'project_type' : namespace_id !== null ? 'group_type' : 'instance_type',
        namespace_id,
        created_by_id,
        is_registered,
        token_digest: tokenDigest(token),
        token_expires_at: expiryAt(place),
      })
      .returning(['id', 'token_expires_at'])
      .executeTakeFirstOrThrow();
    if (project_id !== null)
      await tx.insertInto('runner_projects').values({ runner_id: made.id, project_id, is_owner: true }).execute();
    return { ...made, token };
  });
}

/**
 * Gives a runner another token. The one before it ends at once.
 * @throws ApiError 404
 */
export function resetToken(
  db: Database,
  { id, is_registered }: { id: number; is_registered: boolean },
): Promise<MadeRunner> {
  const token = newRunnerToken(is_registered);
  return db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('runners')
      .set(stamped({ token_digest: tokenDigest(token), token_expires_at: expiryAt(await placeOf(tx, id)) }))
      .where('id', '=', id)
      .returning(['id', 'token_expires_at'])
      .executeTakeFirst();
    return { ...found('Runner', changed), token };
  });
}

/**
 * Changes the settings of a runner.
 * @throws ApiError 400 for settings that are wrong together with those that stay, 404
 */
export const changeRunner = (db: Database, id: number, changes: Partial<RunnerSettings>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const query = tx
      .selectFrom('runners')
      .select(['description', 'maintenance_note', 'paused', 'locked', 'run_untagged', 'tag_list', 'maximum_timeout'])
      .select((q) => q.ref('access_level').$castTo<RunnerSettings['access_level']>().as('access_level'))
      .where('id', '=', id)
      .forNoKeyUpdate();
    const reasons = settingReasons({ ...found('Runner', await query.executeTakeFirst()), ...changes });
    if (Object.keys(reasons).length > 0) throw invalid(reasons);
    const { tag_list, ...others } = changes;
    await tx
      .updateTable('runners')
      .set(stamped({ ...others, ...(tag_list && { tag_list: sql`${[...tag_list]}::text[]` }) }))
      .where('id', '=', id)
      .execute();
  });

/**
 * Deletes a runner that has at most one project.
 * @throws ApiError 403, 404
 */
export const deleteRunner = (db: Database, id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom('runners').select('id').where('id', '=', id).forUpdate().execute();
    const places = await tx.selectFrom('runner_projects').select('project_id').where('runner_id', '=', id).execute();
    if (places.length > 1) throw forbidden('Runner associated with more than one project');
    await deleteFound(tx, 'runners', id, 'Runner');
  });
