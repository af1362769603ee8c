/** Checks a repository and compares it with its project. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import {
  fsck,
  GitError,
  hasConfig,
  headBranch,
  listBranches,
  type Repository,
  removeStaleLocks,
  replaceConfig,
  replaceHead,
  setHead,
  staleLocks,
} from '../git/index.ts';
import { counted } from '../texts/index.ts';
import { checkBrokenRefs } from './check_broken_refs.ts';
import { checkMergeRequests } from './check_merge_requests.ts';
import { checkPointers } from './check_pointers.ts';
import { checkDangling, checkPushes } from './check_pushes.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { wereBranchesDeleted } from './recorded_refs.ts';
import { placeOf, type RepositoryRow } from './repositories.ts';

/** Ref updates take seconds; an older one was interrupted. */
const underWay_minutes = 1;

/** @param row as it was when the check began */
export function checkRepository(options: CheckOptions, row: RepositoryRow): Promise<Finding[]> {
  return checkFiles(options, row, async (repository, isDamaged) => [
    ...(await checkRefs(options, row, repository, isDamaged)),
    ...(await checkBrokenRefs(options.db, row, repository)),
    ...(isDamaged ? [] : await checkPointers(options.db, row, repository)),
    ...(isDamaged ? [] : await checkMergeRequests(options.db, row, repository)),
  ]);
}

/**
 * Checks the files of a repository, and then what they mean.
 * @param furtherFindings gets the repository, if it can be read, and whether git has found damage
 */
export async function checkFiles(
  options: CheckOptions,
  row: RepositoryRow,
  furtherFindings: (repository: Repository, isDamaged: boolean) => Promise<Finding[]>,
): Promise<Finding[]> {
  const repository = placeOf(options.storages, row);
  if (!repository) return [{ sentence: `${row.full_path}: its storage ${row.storage} is not in COPPICE_STORAGES.` }];
  const folder = await stat(repository.path).catch(() => undefined);
  if (!folder?.isDirectory()) return checkMissing(options, row, repository);
  const unusable = (await checkHead(row, repository)) ?? (await checkConfig(options, row, repository));
  if (unusable) return [unusable];
  const damage = await fsck(repository, options.signal);
  options.signal.throwIfAborted();
  const findings: Finding[] = damage.map((line) => ({ sentence: `${row.full_path}: the repository is damaged: ${line}` }));
  findings.push(...(await checkLocks(row, repository)));
  try {
    findings.push(...(await furtherFindings(repository, damage.length > 0)));
  } catch (error) {
    options.signal.throwIfAborted();
    // A repository that cannot be read does not keep the others from being checked.
    if (!isUnreadable(error)) throw error;
    findings.push({
      sentence: `${row.full_path}: the repository is damaged: ${error.message}. Restore it from a backup.`,
    });
  }
  return findings;
}

const damaged: ReadonlySet<string | undefined> = new Set(['EIO', 'EISDIR', 'ELOOP', 'ENOENT', 'ENOTDIR']);

const isUnreadable = (error: unknown): error is Error =>
  error instanceof GitError || damaged.has((error as NodeJS.ErrnoException).code);

/** Without a valid HEAD, git does not take a folder for a repository. */
async function checkHead({ full_path, default_branch }: RepositoryRow, repository: Repository): Promise<Finding | undefined> {
  try {
    await headBranch(repository);
    return undefined;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return {
      sentence: `${full_path}: its file HEAD is missing or damaged, so the repository cannot be read.`,
      repair: async () => {
        await replaceHead(repository, default_branch);
        return `HEAD now points to ${default_branch}.`;
      },
    };
  }
}

/** Without its settings, git takes a repository for one of another format, and does not make its writes durable. */
async function checkConfig({ db }: CheckOptions, row: RepositoryRow, repository: Repository): Promise<Finding | undefined> {
  if (await hasConfig(repository)) return undefined;
  return {
    sentence: `${row.full_path}: its file config is missing or empty, so the repository cannot be read.`,
    repair: async () => {
      await replaceConfig(repository, row.kind === 'snippet' ? 'sha1' : await objectFormatOf(db, row.id));
      return 'It has the settings of a new repository now.';
    },
  };
}

async function objectFormatOf(db: Database, project_id: number): Promise<'sha1' | 'sha256'> {
  const format = db.selectFrom('projects').select('repository_object_format').where('id', '=', project_id);
  return (await format.executeTakeFirstOrThrow()).repository_object_format as 'sha1' | 'sha256';
}

/** Writers remove such a lock when they meet it, and the server does when it starts alone. */
async function checkLocks({ full_path }: RepositoryRow, repository: Repository): Promise<Finding[]> {
  const locks = await staleLocks(repository);
  if (locks.length === 0) return [];
  const number = counted(locks.length, 'lock', 'locks');
  return [
    {
      sentence: `${full_path}: killed git processes left ${number} on refs, for example ${path.relative(repository.path, locks[0]!)}.`,
      repair: async () => {
        await removeStaleLocks(repository);
        return 'Removed.';
      },
    },
  ];
}

/** It may have been deleted or moved to another storage a moment ago. */
async function checkMissing({ db }: CheckOptions, row: RepositoryRow, repository: Repository): Promise<Finding[]> {
  const now = await db.selectFrom(`${row.kind}s`).select('storage').where('id', '=', row.id).executeTakeFirst();
  if (now?.storage !== row.storage) return [];
  return [{ sentence: `${row.full_path}: there is no repository at ${repository.path}. Restore it from a backup.` }];
}

async function checkRefs(
  options: CheckOptions,
  row: RepositoryRow,
  repository: Repository,
  isDamaged: boolean,
): Promise<Finding[]> {
  const before = await differences(options, row.id, repository, isDamaged);
  // A push may be between the repository and the database: only what is found twice is reported.
  return before.length === 0 || (await isMoving(options, row)) ? [] : await differences(options, row.id, repository, isDamaged);
}

/** Old ref updates are reported separately. */
export async function isMoving({ db }: CheckOptions, { kind, id }: Pick<RepositoryRow, 'kind' | 'id'>): Promise<boolean> {
  const moving = await db
    .selectFrom('reference_updates')
    .select('id')
    .where(`${kind}_id`, '=', id)
    .where('created_at', '>', sql<string>`now() - make_interval(mins => ${underWay_minutes})`)
    .executeTakeFirst();
  return moving !== undefined;
}

async function differences({ db }: CheckOptions, id: number, repository: Repository, isDamaged: boolean): Promise<Finding[]> {
  const row = await db
    .selectFrom('projects')
    .select(['full_path', 'default_branch', 'empty_repo'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return [];
  const [branches, head, lost] = await Promise.all([
    listBranches(repository),
    headBranch(repository),
    checkPushes(db, { id, full_path: row.full_path }, repository),
  ]);
  const { full_path, default_branch, empty_repo } = row;
  const isEmpty = branches.length === 0;
  const findings: Finding[] = [...lost];
  if (empty_repo && !isEmpty) {
    findings.push({
      sentence: `${full_path}: the database records the repository as empty, but it has branches.`,
      repair: async () => {
        await db.updateTable('projects').set({ empty_repo: false }).where('id', '=', id).execute();
        return 'The database now records it as not empty.';
      },
    });
  }
  // No repair: that the repository was not empty is the only trace of what it has lost.
  if (isEmpty && !empty_repo && lost.length === 0 && !(await wereBranchesDeleted(db, id)))
    findings.push({ sentence: `${full_path}: the database records the repository as not empty, but it has no branches.` });
  // What is damaged cannot be searched.
  if (!isDamaged && (lost.length > 0 || (isEmpty && !empty_repo)))
    findings.push(...(await checkDangling(db, { id, full_path }, repository)));
  if (!isEmpty && !branches.some(({ name }) => name === default_branch))
    findings.push({
      sentence: `${full_path}: the default branch ${default_branch} does not exist. Choose another in its settings.`,
    });
  if (head !== default_branch) {
    findings.push({
      sentence: `${full_path}: HEAD points to ${head ?? 'no branch'}, but the default branch is ${default_branch}.`,
      repair: async () => {
        await setHead(repository, default_branch);
        return `HEAD now points to ${default_branch}.`;
      },
    });
  }
  return findings;
}
