/** Complete changes to environments. */
import { sql } from 'kysely';
import { type Database, isUniqueViolation, stamped } from '../../../db/index.ts';
import { deleteFound, forbidden, found, invalid } from '../../../http/index.ts';
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

/** The slug of a new environment; the project is locked, so it stays free. */
async function freeSlug(tx: Database, project_id: number, name: string): Promise<string> {
  const plain = plainSlug(name);
  if (plain === undefined) return suffixedSlug(name);
  const query = tx
    .selectFrom('environments')
    .select('id')
    .where('project_id', '=', project_id)
    .where('slug', '=', plain);
  return (await query.executeTakeFirst()) ? suffixedSlug(name) : plain;
}

/**
 * Adds an environment. Locks the project, so that concurrent requests cannot exceed the limit.
 * @param tx a transaction
 * @returns its id, or undefined if the name is taken
 * @throws ApiError 400 if the project has reached the limit
 */
export async function addEnvironment(
  tx: Database,
  project_id: number,
  { name, ...fields }: EnvironmentInput & { name: string },
): Promise<number | undefined> {
  await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().executeTakeFirst();
  const ofProject = tx.selectFrom('environments').where('project_id', '=', project_id);
  if (await ofProject.select('id').where('name', '=', name).executeTakeFirst()) return undefined;
  const { count } = await ofProject.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count >= maximumEnvironments) throw invalid({ base: [tooManyText] });
  const { id } = await tx
    .insertInto('environments')
    .values({
      tier: tierOf(name),
      ...columnsOfInput(fields),
      project_id,
      name,
      slug: await freeSlug(tx, project_id, name),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
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
  const id = await addEnvironment(tx, acting.project.id, fields);
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

/** Stops an environment. Does nothing if it is stopped already. */
export async function stopEnvironment(tx: Database, id: number): Promise<void> {
  await tx
    .updateTable('environments')
    .set(stamped({ state: 'stopped' }))
    .where('id', '=', id)
    .where('state', '<>', 'stopped')
    .execute();
}

/** Stops the unprotected environments of a project that were neither changed nor deployed to since the given time. */
export async function stopStaleEnvironments(db: Database, project_id: number, before: string): Promise<void> {
  await db
    .updateTable('environments')
    .set(stamped({ state: 'stopped' }))
    .where('project_id', '=', project_id)
    .where('state', '=', 'available')
    .where(isStale(before))
    .where(sql<boolean>`not ${isProtected}`)
    .execute();
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
