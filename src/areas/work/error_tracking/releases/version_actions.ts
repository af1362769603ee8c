/** Releases announced by clients: versions of an application, with their commits. */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { badRequest, type Caller } from '../../../../http/index.ts';
import { isVersionEditor } from './version_queries.ts';

export const maximumVersionLength = 250;
const maximumVersions = 10_000;
const tooManyVersions = `Maximum number of releases (${maximumVersions}) exceeded`;

/** Omitted members keep their values. */
export interface VersionChanges {
  url?: string | undefined;
  commit_sha?: string | undefined;
  started_at?: string | undefined;
  released_at?: string | undefined;
}

/**
 * The release of a project with a version; it is added if it does not exist.
 * @param tx a transaction
 * @returns its id
 * @throws ApiError 400 if the project has too many releases
 */
export async function versionIn(
  tx: Database,
  { id: project_id }: Pick<Project, 'id'>,
  version: string,
): Promise<number> {
  const known = await tx
    .updateTable('error_tracking_versions')
    .set({ used_at: sql`now()` })
    .where('project_id', '=', project_id)
    .where('version', '=', version)
    .returning('id')
    .executeTakeFirst();
  if (known) return known.id;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select from error_tracking_versions where project_id = ${project_id} limit ${maximumVersions}) counted`.execute(
    tx,
  );
  if (rows[0]!.count >= maximumVersions) throw badRequest(tooManyVersions);
  const added = await tx
    .insertInto('error_tracking_versions')
    .values({ project_id, version })
    .onConflict((one) => one.columns(['project_id', 'version']).doUpdateSet({ used_at: sql`now()` }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return added.id;
}

const columnsOf = (changes: VersionChanges) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));

/**
 * Adds a release to projects, or changes it where it exists.
 * @throws ApiError 400 if a project has too many releases
 */
export const announceVersion = (
  db: Database,
  projects: readonly Project[],
  version: string,
  changes: VersionChanges,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const ids: number[] = [];
    for (const project of projects.toSorted((one, other) => one.id - other.id))
      ids.push(await versionIn(tx, project, version));
    await changeVersions(tx, ids, changes);
  });

/** Changes releases by their ids. */
export async function changeVersions(tx: Database, ids: readonly number[], changes: VersionChanges): Promise<void> {
  await tx
    .updateTable('error_tracking_versions')
    .set({ ...columnsOf(changes), used_at: sql`now()` })
    .where('id', '=', sql<number>`any(${ofAnyLength(ids, 'bigint[]')})`)
    .execute();
}

/** Deletes a release, with its source maps, from those projects of an organization in which the caller may change it. @returns their number */
export async function deleteVersions(db: Database, caller: Caller, org: string, version: string): Promise<bigint> {
  const { numAffectedRows = 0n } = await sql`
    delete from error_tracking_versions where id in (
      select error_tracking_versions.id from error_tracking_versions join projects on projects.id = error_tracking_versions.project_id
       where version = ${version} and ${isVersionEditor(caller, org)})`.execute(db);
  return numAffectedRows;
}

/**
 * Records the use of releases by arriving events, at most once a day.
 * @param batch a common table expression that defines `batch`: events with `project_id` and `release`
 */
export async function markVersionsUsed(tx: Database, batch: ReturnType<typeof sql>): Promise<void> {
  await sql`
    with ${batch}
    update error_tracking_versions versions set used_at = now()
      from (select distinct project_id, release from batch where release is not null) as seen
     where versions.project_id = seen.project_id and versions.version = seen.release and versions.used_at < now() - interval '1 day'`.execute(
    tx,
  );
}
