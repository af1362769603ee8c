/** Locks: paths reserved by one user of a project, so that other clients do not push changes to them. */
import { sql } from 'kysely';
import { levels, type MaybeCaller, type Project } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { ApiError, type Caller } from '../../../http/index.ts';
import { refusal } from './access.ts';
import { isLockPath } from './rules.ts';

/** The format for LFS clients. */
export interface Lock {
  id: string;
  path: string;
  locked_at: string;
  owner: { name: string };
}

interface OwnedLock extends Lock {
  user_id: number;
}

const perPage = 100;
const shown = ({ id, path, locked_at, owner }: OwnedLock): Lock => ({ id, path, locked_at, owner });

interface Filter {
  id?: unknown;
  path?: unknown;
  /** The `next_cursor` of the previous page. */
  cursor?: unknown;
  limit?: unknown;
}

const isId = (text: unknown) => /^\d{1,15}$/.test(String(text));

async function locksOf(
  db: Database,
  project: Project,
  { id, path, cursor }: Filter,
  limit: number,
): Promise<OwnedLock[]> {
  const given = [id, cursor].filter((text) => text !== undefined && text !== '');
  if (!given.every(isId) || (path !== undefined && !isLockPath(path))) return [];
  let query = db
    .selectFrom('lfs_locks')
    .innerJoin('users', 'users.id', 'lfs_locks.user_id')
    .select(['lfs_locks.id', 'lfs_locks.path', 'lfs_locks.locked_at', 'lfs_locks.user_id', 'users.name'])
    .where('lfs_locks.project_id', '=', project.id)
    .orderBy('lfs_locks.id')
    .limit(limit);
  if (id) query = query.where('lfs_locks.id', '=', Number(id));
  if (cursor) query = query.where('lfs_locks.id', '>=', Number(cursor));
  if (path !== undefined) query = query.where('lfs_locks.path', '=', path as string);
  const rows = await query.execute();
  return rows.map(({ name, ...lock }) => ({ ...lock, id: String(lock.id), owner: { name } }));
}

/** One page of locks, oldest first, and the cursor of the next one. */
async function pageOf(
  db: Database,
  project: Project,
  filter: Filter,
): Promise<{ locks: OwnedLock[]; next_cursor?: string }> {
  const wanted = Number(filter.limit);
  const limit = Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, perPage) : perPage;
  const rows = await locksOf(db, project, filter, limit + 1);
  const next = rows[limit];
  return { locks: rows.slice(0, limit), ...(next ? { next_cursor: next.id } : {}) };
}

/** The locks of a project, filtered by path or id. */
export async function listLocks(
  db: Database,
  project: Project,
  filter: Filter,
): Promise<{ locks: Lock[]; next_cursor?: string }> {
  const { locks, ...rest } = await pageOf(db, project, filter);
  return { locks: locks.map(shown), ...rest };
}

/** The locks of a project, split into the caller's own and others, for a client about to push. */
export async function verifyLocks(
  db: Database,
  { project, caller }: { project: Project; caller: MaybeCaller },
  filter: Filter,
) {
  const { locks, ...rest } = await pageOf(db, project, { cursor: filter.cursor, limit: filter.limit });
  const isOurs = ({ user_id }: OwnedLock) => user_id === caller?.id;
  return {
    ours: locks.filter(isOurs).map(shown),
    theirs: locks.filter((lock) => !isOurs(lock)).map(shown),
    ...rest,
  };
}

/**
 * Locks a path.
 * @throws ApiError 409 with the lock when the path is locked, 422 for an invalid path
 */
export async function addLock(
  db: Database,
  { project, caller }: { project: Project; caller: Caller },
  path: unknown,
): Promise<Lock> {
  if (!isLockPath(path)) throw refusal(422, 'The path to lock is missing or too long.');
  try {
    const { id, locked_at } = await db
      .insertInto('lfs_locks')
      .values({ project_id: project.id, user_id: caller.id, path })
      .returning(['id', 'locked_at'])
      .executeTakeFirstOrThrow();
    return { id: String(id), path, locked_at, owner: { name: caller.name } };
  } catch (error) {
    if (!isUniqueViolation(error, 'lfs_locks_path_key')) throw error;
    const [lock] = await locksOf(db, project, { path }, 1);
    throw new ApiError(409, { message: 'already locked', ...(lock ? { lock: shown(lock) } : {}) });
  }
}

/**
 * Removes the caller's own lock, or, with `force` and as a maintainer, the lock of another user.
 * @throws ApiError 404 if the lock does not exist, 403
 */
export async function removeLock(
  db: Database,
  { project, caller }: { project: Project; caller: Caller },
  { id, force }: { id: string; force: boolean },
): Promise<Lock> {
  const [lock] = await locksOf(db, project, { id }, 1);
  if (!lock) throw refusal(404, 'Lock not found');
  if (lock.user_id !== caller.id && !force) throw refusal(403, `'${lock.path}' is locked by ${lock.owner.name}`);
  if (lock.user_id !== caller.id && project.access_level < levels.maintainer)
    throw refusal(403, 'You must have maintainer access to force delete a lock');
  await db.deleteFrom('lfs_locks').where('id', '=', sql<number>`${lock.id}`).execute();
  return shown(lock);
}
