/** Adds client keys to a project. */
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { invalid } from '../../../../http/index.ts';
import { newPublicKey } from './rules.ts';

/** The most client keys that a project can have. */
export const maximumKeys = 100;
export const tooManyKeysText = `Maximum number of client keys (${maximumKeys}) exceeded`;

/** Locks a project, to serialise changes of its settings and keys. */
export const lockProject = (tx: Database, { id }: Project) =>
  tx.selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();

const keysOf = (db: Database, project: Project) =>
  db.selectFrom('error_tracking_client_keys').where('project_id', '=', project.id);

const insertKey = (tx: Database, project: Project) =>
  tx
    .insertInto('error_tracking_client_keys')
    .values({ project_id: project.id, public_key: newPublicKey() })
    .returning(['id', 'active', 'public_key'])
    .executeTakeFirstOrThrow();

/** Adds a client key to a project that has none. */
export async function addFirstKey(tx: Database, project: Project): Promise<void> {
  const key = await keysOf(tx, project).select('id').limit(1).executeTakeFirst();
  if (!key) await insertKey(tx, project);
}

/**
 * Adds a client key to a project.
 * @throws ApiError 400 if it has reached the limit
 */
export const addKey = (db: Database, project: Project) =>
  db.transaction().execute(async (tx) => {
    await lockProject(tx, project);
    const { count } = await keysOf(tx, project)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= maximumKeys) throw invalid({ base: [tooManyKeysText] });
    return insertKey(tx, project);
  });
