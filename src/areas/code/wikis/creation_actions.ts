/** Creates the repositories of wikis, with their first change. */
import { sql } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import { type Database, isForeignKeyViolation, isUniqueViolation } from '../../../db/index.ts';
import { notFound, type Services } from '../../../http/index.ts';
import type { RepositoryKind } from '../../../services/index.ts';
import { settingsOf, storageForNew } from '../../instance/application_settings/index.ts';
import { removeUnusedRepository, storeRepository, useRepository } from '../repository/owners/unused_actions.ts';
import { type Wiki, wikiOf } from './git.ts';

/** The name of a wiki's container in refusals. */
export const nounOf = ({ project_id }: Pick<Owner, 'project_id'>): 'Project' | 'Group' =>
  project_id === null ? 'Group' : 'Project';

/** The storage of the project's or group's other repositories; for a group, another storage if that one is no longer configured. */
async function storageOf(services: Services, { project_id, group_id }: Owner): Promise<string | undefined> {
  const { rows } = await sql<{ storage: string }>`
    select storage from projects where id = ${project_id} union all
    select repository_storage from namespaces where id = ${group_id}`.execute(services.db);
  const storage = rows[0]?.storage;
  const isLost = storage !== undefined && group_id !== null && !Object.hasOwn(services.storages, storage);
  return isLost ? storageForNew(services) : storage;
}

const setStorage = (tx: Database, group_id: number, repository_storage: string) =>
  tx
    .updateTable('namespaces')
    .set({ repository_storage })
    .where('id', '=', group_id)
    .where('repository_storage', '<>', repository_storage)
    .execute();

/**
 * The wiki of a project or group, created with an empty repository if missing. The repository is created before the row, and recorded as unused: after a crash in between it is
 * deleted.
 * @param kind the kind of wikis
 * @throws ApiError 404 if the project or group is gone
 */
export async function openWiki(services: Services, kind: RepositoryKind, place: Owner): Promise<Wiki> {
  const { db } = services;
  const there = await wikiOf(db, place);
  if (there) return there;
  const { project_id, group_id } = place;
  const [storage, settings] = await Promise.all([storageOf(services, place), settingsOf(db)]);
  if (storage === undefined) throw notFound(nounOf(place));
  const default_branch = settings.default_branch_name || 'main';
  const { id } = await storeRepository(services, { kind, storage, default_branch }, async () => {});
  try {
    await db.transaction().execute(async (tx) => {
      await useRepository(tx, kind, id);
      if (group_id !== null) await setStorage(tx, group_id, storage);
      await sql`
        insert into wikis (id, project_id, group_id, storage, default_branch) overriding system value
        values (${id}, ${project_id}, ${group_id}, ${storage}, ${default_branch})`.execute(tx);
    });
    return { id, project_id, group_id, storage, default_branch };
  } catch (error) {
    // If the row exists after all, the repository is no longer recorded as unused, and stays.
    await removeUnusedRepository(services, kind, id).catch(() => {});
    if (isForeignKeyViolation(error)) throw notFound(nounOf(place));
    // A concurrent first change has created it.
    const first = isUniqueViolation(error) ? await wikiOf(db, place) : undefined;
    if (first) return first;
    throw error;
  }
}
