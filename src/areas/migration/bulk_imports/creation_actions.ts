/** Starting a migration: what is checked here, and its rows (docs/reference/bulk_imports.md#starting). */
import { levels, visibleGroup } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Caller, type Services } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { isPathTaken, pathReasons } from '../../people/namespaces/index.ts';
import { checkMayCreateGroup } from '../../spaces/groups/index.ts';
import { mayCreateIn, namespaceFor } from '../../spaces/projects/index.ts';
import { destinationOf, type NewEntity } from './definition.ts';
import { checkSource, refused, sourceUrl } from './source/checks.ts';
import { sealToken } from './source/token_queries.ts';
import { firstPhase } from './step_rules.ts';

export const destinationTexts = {
  namespace: (path: string) => `Import failed. Destination '${path}' is invalid, or you don't have permission.`,
  slug: "Import failed. Destination URL can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.",
  taken: (path: string) => `Import failed. '${path}' already exists. Change the destination and try again.`,
  inside: 'Import failed: Destination cannot be a subgroup of the source group. Change the destination and try again.',
};

/** The attributes of an importer that the rules for new groups and projects need. */
type Importer = Pick<Caller, 'id' | 'admin' | 'external'>;

/** Whether an importer may create an entity in its namespace. */
export async function mayMake(db: Database, importer: Importer, entity: NewEntity): Promise<boolean> {
  const { destination_namespace: path } = entity;
  if (entity.entity_type === 'group') return isGranted(() => checkMayCreateSubgroup(db, importer, path));
  const namespace = path === '' ? undefined : await namespaceFor(db, importer, path);
  if (namespace?.kind !== 'group' || !mayCreateIn(importer, namespace)) return false;
  return namespace.access_level >= levels.maintainer;
}

async function checkMayCreateSubgroup(db: Database, importer: Importer, path: string): Promise<void> {
  const parent = path === '' ? undefined : await visibleGroup(db, importer as Caller, path);
  if (parent?.marked_for_deletion) throw refused(destinationTexts.namespace(path));
  await checkMayCreateGroup(db, importer, parent);
}

/** Whether a check passes. */
async function isGranted(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Returns a check of the destination of one entity at a time. */
function destinationCheck({ db, url }: Services, importer: Importer, source_url: string) {
  const taken = new Set<string>();
  return async (entity: NewEntity): Promise<void> => {
    const { destination_namespace, destination_slug, entity_type, source_full_path } = entity;
    if (!(await mayMake(db, importer, entity))) throw refused(destinationTexts.namespace(destination_namespace));
    if (pathReasons(destination_slug, destination_namespace === '').length > 0) throw refused(destinationTexts.slug);
    const path = destinationOf(entity);
    if (taken.has(path.toLowerCase()) || (await isPathTaken(db, path))) throw refused(destinationTexts.taken(path));
    taken.add(path.toLowerCase());
    const isHere = entity_type === 'group' && new URL(url).origin === new URL(source_url).origin;
    const inside = `${destination_namespace}/`.toLowerCase().startsWith(`${source_full_path}/`.toLowerCase());
    if (isHere && inside) throw refused(destinationTexts.inside);
  };
}

export interface NewMigration {
  url: string;
  access_token: string;
  entities: readonly NewEntity[];
}

/**
 * Checks everything that can be checked beforehand, and starts a migration.
 * @returns its ID
 * @throws ApiError 422
 */
export async function startMigration(services: Services, caller: Caller, migration: NewMigration): Promise<number> {
  const { db, secrets } = services;
  const may_be_local = (await settingsOf(db)).allow_local_requests_from_web_hooks_and_services;
  const source_url = sourceUrl(migration.url, may_be_local);
  const token = migration.access_token.trim();
  const check = destinationCheck(services, caller, source_url);
  const source_version = await checkSource(
    { url: source_url, token, may_be_local, user_id: caller.id },
    migration.entities,
    check,
  );
  return db.transaction().execute(async (tx) => {
    const access_token = sealToken(secrets, token);
    const { id } = await tx
      .insertInto('bulk_imports')
      .values({ user_id: caller.id, source_url, source_version, access_token })
      .returning('id')
      .executeTakeFirstOrThrow();
    const rows = migration.entities.map((entity) => ({
      ...entity,
      bulk_import_id: id,
      user_id: caller.id,
      phase: firstPhase(entity.entity_type),
    }));
    await tx.insertInto('bulk_import_entities').values(rows).execute();
    return id;
  });
}
