/** Complete changes to environments. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong, isUniqueViolation, stamped } from '../../../db/index.ts';
import { deleteFound, forbidden, found, Id, invalid, nullable } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { isProtected, mayRegrade } from '../protected_environments/queries.ts';
import type { Tier } from '../protected_environments/rules.ts';
import { type Acting, refuseUnnamed } from './approval_queries.ts';
import { isStale } from './queries.ts';
import { maximumEnvironments, plainSlug, secondsOf, suffixedSlug, tierOf, tooManyText } from './rules.ts';

/** The fields of an environment in a request. */
export interface EnvironmentInput {
  name?: string | undefined;
  description?: string | null | undefined;
  external_url?: string | null | undefined;
  tier?: Tier | undefined;
  auto_stop_at?: string | null | undefined;
  auto_stop_in?: string | null | undefined;
}

const taken = () => invalid({ name: ['has already been taken'] });

/** The columns for the given fields, with the interval by which each deployment extends the auto-stop time. */
function columnsOfInput({ external_url, auto_stop_at, auto_stop_in, ...others }: EnvironmentInput) {
  const span_s = auto_stop_in ? secondsOf(auto_stop_in) : undefined;
  const end = span_s === undefined ? auto_stop_at || null : new Date(Date.now() + span_s * 1000).toISOString();
  const seconds = end === null ? null : Math.round((Date.parse(end) - Date.now()) / 1000);
  const isGiven = auto_stop_at !== undefined || auto_stop_in !== undefined;
  return {
    ...others,
    ...(external_url === undefined ? {} : { external_url: external_url?.trim() || null }),
    ...(isGiven ? { auto_stop_at: end, auto_stop_in_s: seconds } : {}),
  };
}

/** The slugs of new environments by name; the project is locked, so they stay free. */
async function freeSlugs(tx: Database, project_id: number, names: readonly string[]): Promise<Map<string, string>> {
  const plain = names.flatMap((name) => plainSlug(name) ?? []);
  const query = tx.selectFrom('environments').select('slug').where('project_id', '=', project_id);
  const rows = plain.length === 0 ? [] : await query.where(isAmong('slug', plain, 'text[]')).execute();
  const taken = new Set(rows.map(({ slug }) => slug));
  return new Map(
    names.map((name) => {
      const slug = plainSlug(name);
      return [name, slug === undefined || taken.has(slug) ? suffixedSlug(name) : slug];
    }),
  );
}

export type NewEnvironment = EnvironmentInput & { name: string };

/**
 * Adds environments, except for names that are taken. Locks the project, so that concurrent requests cannot exceed the limit.
 * @param tx a transaction
 * @param environments with different names
 * @returns the ids of the new ones by name
 * @throws ApiError 400 if the project has reached the limit
 */
export async function addEnvironments(
  tx: Database,
  project_id: number,
  environments: readonly NewEnvironment[],
): Promise<ReadonlyMap<string, number>> {
  await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().executeTakeFirst();
  const ofProject = tx.selectFrom('environments').where('project_id', '=', project_id);
  const names = environments.map(({ name }) => name);
  const known = await ofProject
    .select('name')
    .where(isAmong('name', names, 'text[]'))
    .execute();
  const added = environments.filter(({ name }) => !known.some((other) => other.name === name));
  if (added.length === 0) return new Map();
  const { count } = await ofProject.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count + added.length > maximumEnvironments) throw invalid({ base: [tooManyText] });
  const slugs = await freeSlugs(
    tx,
    project_id,
    added.map(({ name }) => name),
  );
  const rows = await tx
    .insertInto('environments')
    .values(
      added.map(({ name, ...fields }) => ({
        tier: tierOf(name),
        ...columnsOfInput(fields),
        ...{ project_id, name, slug: slugs.get(name)! },
      })),
    )
    .returning(['id', 'name'])
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/**
 * Adds an environment for a request.
 * @returns its id
 * @throws ApiError 400 with the reasons by field, 403 if protections of its name or tier exclude the caller
 */
export async function createEnvironment(
  tx: Database,
  acting: Acting,
  fields: EnvironmentInput & { name: string },
): Promise<number> {
  await refuseUnnamed(tx, acting, { name: fields.name, tier: fields.tier ?? tierOf(fields.name) });
  const id = (await addEnvironments(tx, acting.project.id, [fields])).get(fields.name);
  if (id === undefined) throw taken();
  return id;
}

/** An environment of a project, locked until the transaction ends. */
export interface LockedEnvironment {
  id: number;
  name: string;
  tier: string;
  state: string;
}

/**
 * The environment, locked until the transaction ends.
 * @throws ApiError 404, 403 if it is protected against the caller
 */
export async function lockedEnvironment(
  tx: Database,
  { project, caller }: Acting,
  id: number,
): Promise<LockedEnvironment> {
  const query = tx
    .selectFrom('environments')
    .select(['id', 'name', 'tier', 'state'])
    .where('project_id', '=', project.id)
    .where('id', '=', id)
    .forUpdate();
  const environment = found(undefined, await query.executeTakeFirst());
  await refuseUnnamed(tx, { project, caller }, environment);
  return environment;
}

/**
 * Changes an environment. A new name does not change its slug.
 * @param tx a transaction in which it is locked
 * @throws ApiError 400 if the name is taken; 403 if the name or the tier is protected against the caller, or if protections that the caller may not change would start or stop
 *   applying: deployments would bypass required approvals
 */
export async function changeEnvironment(
  tx: Database,
  acting: Acting,
  { id, name, tier }: LockedEnvironment,
  fields: EnvironmentInput,
): Promise<void> {
  const after = { name: fields.name ?? name, tier: fields.tier ?? tier };
  await refuseUnnamed(tx, acting, after);
  const { caller, project } = acting;
  const before = { project_id: project.id, name, tier };
  if (!(await mayRegrade(tx, { caller, level: project.access_level }, before, after))) throw forbidden();
  try {
    await tx
      .updateTable('environments')
      .set(stamped(columnsOfInput(fields)))
      .where('id', '=', id)
      .execute();
  } catch (error) {
    if (isUniqueViolation(error, 'environments_name_key')) throw taken();
    throw error;
  }
}

/** Starts the job that stops an environment. A higher area runs the job. */
export const startStopJob = queueOf('start_stop_job', {
  input: { environment_id: Id, user_id: nullable(Id) },
  retries: 3,
});

/** Whether a job stops each row of `environments`: the job that deployed to it last names one. */
const isStoppedByJob = sql<boolean>`coalesce((
  select on_stop is not null and job_id is not null from deployments
   where environment_id = environments.id and status = 'success' order by finished_at desc, id desc limit 1), false)`;

/**
 * Stops environments, or starts the jobs that stop them. Nothing happens to those that are stopped already.
 * @param tx a transaction
 * @param which a predicate on rows of `environments`, and what may follow it
 * @param options.user_id who stops them; null for the user who deployed
 * @param options.force whether they stop without those jobs
 * @returns the number of environments that were changed
 */
export async function stopEnvironments(
  tx: Database,
  which: RawBuilder<SqlBool>,
  { user_id, force = false }: { user_id: number | null; force?: boolean },
): Promise<number> {
  const isOpen = force ? sql`state <> 'stopped'` : sql`state = 'available'`;
  const { rows } = await sql<{ environment_id: number; state: string }>`
    update environments
       set state = case when ${force ? sql`false` : isStoppedByJob} then 'stopping' else 'stopped' end, updated_at = now(), auto_stop_at = null
     where ${isOpen} and id in (select id from environments where ${isOpen} and ${which})
    returning id as environment_id, state`.execute(tx);
  const stopping = rows.filter(({ state }) => state === 'stopping');
  await startStopJob.enqueueEach(
    tx,
    stopping.map(({ environment_id }) => ({ environment_id, user_id })),
  );
  return rows.length;
}

/** Stops the unprotected environments of a project that were neither changed nor deployed to since the given time. */
export async function stopStaleEnvironments(
  db: Database,
  { project_id, user_id, before }: { project_id: number; user_id: number; before: string },
): Promise<void> {
  const which = sql<SqlBool>`project_id = ${project_id} and ${isStale(before)} and not ${isProtected}`;
  await db.transaction().execute((tx) => stopEnvironments(tx, which, { user_id }));
}

/**
 * Deletes an environment with its deployments.
 * @param tx a transaction in which it is locked
 * @throws ApiError 403 unless it is stopped
 */
export async function removeEnvironment(tx: Database, { id, state }: LockedEnvironment): Promise<void> {
  if (state !== 'stopped') throw forbidden();
  await deleteFound(tx, 'environments', id);
}

/** A review app that can be deleted. */
export interface ReviewApp {
  id: number;
  name: string;
  slug: string;
  external_url: string | null;
}

/**
 * Schedules the deletion of old, stopped and unprotected review apps in a week, oldest first; a dry run only lists them.
 * @param before the latest creation time
 */
export async function scheduleReviewApps(
  db: Database,
  project_id: number,
  { before, limit, dry_run }: { before: string; limit: number; dry_run: boolean },
): Promise<ReviewApp[]> {
  const old = db
    .selectFrom('environments')
    .select(['id', 'name', 'slug', 'external_url'])
    .where('project_id', '=', project_id)
    .where('state', '=', 'stopped')
    .where('name', 'like', 'review/%')
    .where('created_at', '<', before)
    .where('auto_delete_at', 'is', null)
    .where(sql<boolean>`not ${isProtected}`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  if (dry_run) return old.execute();
  const changed = await db
    .updateTable('environments')
    .set({ auto_delete_at: sql<string>`now() + interval '7 days'` })
    .where('id', 'in', old.clearSelect().select('id').forUpdate())
    .returning(['id', 'name', 'slug', 'external_url'])
    .execute();
  return changed.toSorted((a, b) => a.id - b.id);
}
