/** LFS checks of a push: the objects of its pointers must exist, and it must not change files locked by others. */
import type { Project } from '../../../access/index.ts';
import {
  type Environment,
  newBlobs,
  type Push,
  type RefUpdate,
  type Repository,
  touchedPaths,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { isLfsEnabled, objectsOf } from './queries.ts';
import { pointerIn, pointerLimit_bytes } from './rules.ts';

const missing = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';

/** The search ends after this many small files and so much time. The rest is not checked, because clients normally upload their objects before they push. */
const searched = 20_000;
const maximumSearch_ms = 10_000;

/**
 * The reasons for refusing a push whose pointers lack their objects; empty if all exist.
 * @param repository of the project
 */
export async function missingObjects(
  { db }: Pick<Services, 'db'>,
  project: Pick<Project, 'id'>,
  repository: Repository,
  { updates, quarantine }: Pick<Push, 'updates' | 'quarantine'>,
): Promise<string[]> {
  const targets = updates.flatMap((update) => update.new ?? []);
  if (targets.length === 0 || !(await isLfsEnabled(db, project.id))) return [];
  const contents = await newBlobs(repository, {
    targets,
    env: quarantine,
    smaller_than_bytes: pointerLimit_bytes,
    limit: searched,
    timeout_ms: maximumSearch_ms,
  });
  const oids = new Set(contents.flatMap((content) => pointerIn(content)?.oid ?? []));
  if (oids.size === 0) return [];
  const known = await objectsOf(db, project.id, [...oids]);
  return known.length < oids.size ? [missing] : [];
}

/**
 * The reasons for refusing a push that changes files locked by others; empty if it changes none.
 * @param repository of the project
 * @param quarantine the quarantine of a push, omitted for objects that the repository has
 */
export async function lockedPaths(
  { db }: Pick<Services, 'db'>,
  { project, caller }: { project: Pick<Project, 'id'>; caller: { id: number } },
  repository: Repository,
  { updates, quarantine }: { updates: readonly RefUpdate[]; quarantine: Environment | undefined },
): Promise<string[]> {
  const locks = await db
    .selectFrom('lfs_locks')
    .innerJoin('users', 'users.id', 'lfs_locks.user_id')
    .select(['lfs_locks.path', 'users.name'])
    .where('lfs_locks.project_id', '=', project.id)
    .where('lfs_locks.user_id', '<>', caller.id)
    .orderBy('lfs_locks.id')
    .execute();
  if (locks.length === 0 || !(await isLfsEnabled(db, project.id))) return [];
  const targets = updates.filter(({ ref }) => ref.startsWith('refs/heads/')).flatMap((update) => update.new ?? []);
  const paths = locks.map(({ path }) => path);
  const touched = new Set(await touchedPaths(repository, targets, paths, quarantine));
  return locks
    .filter(({ path }) => touched.has(path))
    .map(({ path, name }) => `The path '${path}' is locked in Git LFS by ${name}`);
}
