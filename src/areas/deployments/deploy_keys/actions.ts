/** Adding deploy keys to projects, changing and removing them. */
import { sql } from 'kysely';
import { countsToday, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, found, invalid } from '../../../http/index.ts';
import { readPublicKey } from '../../people/keys/index.ts';

export interface NewDeployKey {
  title: string;
  key: string;
  can_push: boolean;
  expires_at?: string | undefined;
}

const taken = () => invalid({ fingerprint: ['has already been taken'] });

/** Adds the link, or keeps an existing one. */
async function addTo(tx: Database, project_id: number, key_id: number, can_push: boolean): Promise<void> {
  await tx
    .insertInto('deploy_key_projects')
    .values({ project_id, key_id, can_push })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Adds a key to a project. If the key is a deploy key already, it is shared, and keeps its title and expiry.
 * @returns its ID
 * @throws ApiError 400 for an expired key or the key of a user
 */
export async function addDeployKey(
  db: Database,
  caller: Caller,
  project_id: number,
  { title, key, can_push, expires_at }: NewDeployKey,
): Promise<number> {
  const read = readPublicKey(key);
  if ('refusal' in read) throw invalid({ key: [read.refusal] });
  if (expires_at !== undefined && expires_at <= new Date().toISOString()) throw invalid({ key: ['has expired'] });
  const { text, fingerprint_sha256 } = read;
  return db.transaction().execute(async (tx) => {
    const made = await tx
      .insertInto('keys')
      .values({ title, key: text, fingerprint_sha256, expires_at, usage_type: 'auth', created_by_id: caller.id })
      .onConflict((conflict) => conflict.column('fingerprint_sha256').doNothing())
      .returning('id')
      .executeTakeFirst();
    const known =
      made ??
      (await tx
        .selectFrom('keys')
        .select('id')
        .where('fingerprint_sha256', '=', fingerprint_sha256)
        .where('user_id', 'is', null)
        .forShare()
        .executeTakeFirst());
    if (!known) throw taken();
    const { id } = known;
    await addTo(tx, project_id, id, can_push);
    return id;
  });
}

/** A predicate on rows of `keys`: the caller manages a project that has the key. */
const isManaged = ({ id, admin }: Caller) =>
  admin
    ? sql<boolean>`true`
    : sql<boolean>`exists (
        select from deploy_key_projects known join project_authorizations held on held.project_id = known.project_id
         where known.key_id = keys.id and held.user_id = ${id} and held.access_level >= ${sql.lit(levels.maintainer)} and ${countsToday('held')})`;

/**
 * Adds a deploy key of another project with read access only.
 * @throws ApiError 404 unless the caller manages a project that has the key
 */
export async function enableDeployKey(db: Database, caller: Caller, project_id: number, key_id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const known = tx
      .selectFrom('keys')
      .select('id')
      .where('id', '=', key_id)
      .where('user_id', 'is', null)
      .where(isManaged(caller));
    found(undefined, await known.forShare().executeTakeFirst());
    await addTo(tx, project_id, key_id, false);
  });
}

/**
 * Changes the title of a key, and whether the project lets it push.
 * @throws ApiError 404
 */
export async function changeDeployKey(
  db: Database,
  project_id: number,
  key_id: number,
  { title, can_push }: { title?: string | undefined; can_push?: boolean | undefined },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const link = tx.selectFrom('deploy_key_projects').select('key_id').where('project_id', '=', project_id);
    found(undefined, await link.where('key_id', '=', key_id).forUpdate().executeTakeFirst());
    if (title !== undefined) await tx.updateTable('keys').set({ title }).where('id', '=', key_id).execute();
    if (can_push === undefined) return;
    const of = tx.updateTable('deploy_key_projects').set({ can_push }).where('project_id', '=', project_id);
    await of.where('key_id', '=', key_id).execute();
  });
}

/**
 * Removes a key from a project, and deletes it if no other project has it.
 * @throws ApiError 404
 */
export async function removeDeployKey(db: Database, project_id: number, key_id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Locked until the end, so that no other request adds the key to another project meanwhile.
    await tx
      .selectFrom('keys')
      .select('id')
      .where('id', '=', key_id)
      .where('user_id', 'is', null)
      .forUpdate()
      .execute();
    const link = tx.deleteFrom('deploy_key_projects').where('project_id', '=', project_id).where('key_id', '=', key_id);
    found(undefined, await link.returning('key_id').executeTakeFirst());
    await tx
      .deleteFrom('keys')
      .where('id', '=', key_id)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('deploy_key_projects').select('key_id').where('key_id', '=', key_id))),
      )
      .execute();
  });
}
