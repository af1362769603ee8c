/** Writing the index of code: the text files of default branches (docs/reference/search.md#index). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import {
  type ChangedFile,
  changedFiles,
  GitError,
  type Repository,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { isLargeText, textOf } from './file_git.ts';
import { folded } from './query_rules.ts';

type IndexServices = Pick<Services, 'db' | 'storages'>;

const filesAtOnce = 200;

/** Records that the default branch of a project has moved or was replaced. @param tx the transaction of that change */
export async function markStale(tx: Database, project_id: number): Promise<void> {
  await sql`
    insert into code_indexes (project_id) values (${project_id})
        on conflict (project_id) do update set is_stale = true, changes = code_indexes.changes + 1`.execute(tx);
}

interface IndexedProject {
  id: number;
  storage: string;
  default_branch: string;
  commit_id: string | null;
  changes: number;
}

const projectOf = (db: Database, id: number): Promise<IndexedProject | undefined> =>
  db
    .selectFrom('projects')
    .innerJoin('code_indexes', 'code_indexes.project_id', 'projects.id')
    .select(['projects.id', 'projects.storage', 'projects.default_branch'])
    .select(['code_indexes.commit_id', 'code_indexes.changes'])
    .where('projects.id', '=', id)
    .where('code_indexes.is_stale', '=', true)
    .executeTakeFirst();

/**
 * Updates the index of a project to its default branch. Only differences are written.
 * @param signal stops it between two batches; the next attempt repeats unfinished work
 */
export async function indexProject(services: IndexServices, id: number, signal: AbortSignal): Promise<void> {
  const project = await projectOf(services.db, id);
  if (!project) return;
  try {
    await bringUpToDate(services, project, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    await services.db
      .updateTable('code_indexes')
      .set({ error: error instanceof Error ? error.message : String(error), failed_at: sql`now()` })
      .where('project_id', '=', id)
      .execute();
    throw error;
  }
}

async function bringUpToDate({ db, storages }: IndexServices, project: IndexedProject, signal: AbortSignal) {
  const repository = repositoryOf({ storages }, project);
  const head = await resolveBranch(repository, project.default_branch);
  const files = head === undefined ? undefined : await changesSince(repository, project.commit_id, head);
  // The indexed commit is gone, because a branch was replaced and its commits were removed, or indexing starts from the beginning.
  if (files === undefined || project.commit_id === null)
    await sql`delete from code_files where project_id = ${project.id}`.execute(db);
  const changed = files ?? (head === undefined ? [] : await changedFiles(repository, { from: null, to: head }));
  for (let at = 0; at < changed.length; at += filesAtOnce) {
    signal.throwIfAborted();
    await writeFiles(db, repository, project.id, changed.slice(at, at + filesAtOnce));
  }
  await sql`
    update code_indexes set commit_id = ${head ?? null}, is_stale = changes <> ${project.changes}, has_all_paths = true, error = null, failed_at = null
     where project_id = ${project.id}`.execute(db);
}

/** The files that differ from the indexed ones; undefined if git no longer has the indexed commit. */
async function changesSince(
  repository: Repository,
  from: string | null,
  to: string,
): Promise<ChangedFile[] | undefined> {
  try {
    return await changedFiles(repository, { from, to });
  } catch (error) {
    if (error instanceof GitError && from !== null) return undefined;
    throw error;
  }
}

const isRegular = (mode: string): boolean => mode.startsWith('100');

async function writeFiles(
  db: Database,
  repository: Repository,
  project_id: number,
  changed: readonly ChangedFile[],
): Promise<void> {
  const present = changed.filter(({ status, mode }) => status !== 'deleted' && isRegular(mode));
  await db.transaction().execute(async (tx) => {
    await lockTexts(tx, 'shared');
    await storeTexts(tx, repository, [...new Set(present.map(({ id }) => id))].sort());
    const paths = changed.map(({ old_path }) => old_path);
    await sql`delete from code_files where project_id = ${project_id} and path = any(${paths})`.execute(tx);
    await sql`
      insert into code_files (project_id, path, blob_id)
      select ${project_id}, given.path, code_blobs.id
        from unnest(${present.map(({ path }) => path)}::text[], ${present.map(({ id }) => id)}::text[]) given (path, object_id)
        join code_blobs on code_blobs.object_id = given.object_id
          on conflict (project_id, path) do update set blob_id = excluded.blob_id`.execute(tx);
  });
}

/** Contents are removed only while no transaction is about to reuse them. */
const lockTexts = (tx: Database, mode: 'shared' | 'exclusive') =>
  sql`select ${sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')}(hashtext('code_blobs'))`.execute(
    tx,
  );

/** Stores the contents that no project has yet. Binary, too large and LFS pointer files are stored without content, so that they are found by path. */
async function storeTexts(db: Database, repository: Repository, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select given.id from unnest(${ids}::text[]) given (id)
     where not exists (select from code_blobs where object_id = given.id)`.execute(db);
  const texts: { object_id: string; content: string; is_left_out: boolean }[] = [];
  for (const { id } of rows) {
    const found = await textOf(repository, id);
    const is_left_out = found === undefined && (await isLargeText(repository, id));
    const text = found ?? '';
    const content = text.startsWith('version https://git-lfs.github.com/spec/') ? '' : text;
    // PostgreSQL does not store this character; git accepts files as text that contain it after the beginning.
    texts.push({ object_id: id, content: folded(content.replaceAll('\0', '')), is_left_out });
  }
  if (texts.length === 0) return;
  await db
    .insertInto('code_blobs')
    .values(texts)
    .onConflict((conflict) => conflict.column('object_id').doNothing())
    .execute();
}

/** Removes contents that no file refers to any more. @returns their number */
export const removeUnusedTexts = (db: Database): Promise<number> =>
  db.transaction().execute(async (tx) => {
    await lockTexts(tx, 'exclusive');
    const { numAffectedRows } = await sql`
      delete from code_blobs where id in (
        select id from code_blobs where not exists (select from code_files where blob_id = code_blobs.id) limit 10000)`.execute(
      tx,
    );
    return Number(numAffectedRows ?? 0n);
  });
