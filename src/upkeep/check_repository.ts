/** Checks a repository and compares it with the row of its owner. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
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
import type { RepositoryKind } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { checkBrokenRefs } from './check_broken_refs.ts';
import { checkProject, projectDifferences } from './check_projects.ts';
import { checkPushes } from './check_pushes.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { currentRow, placeOf, type RepositoryRow } from './repositories.ts';

/** Ref updates take seconds; an older one was interrupted. */
const underWay_minutes = 1;

/** Checks for the repositories of some kinds only, unless they are damaged. */
const further: Partial<Record<RepositoryKind['name'], typeof checkProject>> = { project: checkProject };

/** The same, of what may be found because a push is between the repository and the database. */
const furtherDifferences: Partial<Record<RepositoryKind['name'], typeof projectDifferences>> = {
  project: projectDifferences,
};

/** @param known as it was when the check began: it may have moved to another storage since */
export async function checkRepository(options: CheckOptions, known: RepositoryRow): Promise<Finding[]> {
  const row = await currentRow(options.db, known);
  if (!row) return [];
  return checkFiles(options, row, async (repository, isDamaged) => [
    ...(await checkRefs(options, row, repository, isDamaged)),
    ...(await checkBrokenRefs(options.db, row, repository)),
    ...(isDamaged ? [] : ((await further[row.kind.name]?.(options.db, row, repository)) ?? [])),
  ]);
}

/**
 * Checks the files of a repository, then its refs and objects.
 * @param furtherFindings gets the repository, if it can be read, and whether git has found damage
 */
async function checkFiles(
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
  const findings: Finding[] = damage.map((line) => ({
    sentence: `${row.full_path}: the repository is damaged: ${line}`,
  }));
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
async function checkHead(
  { full_path, default_branch }: RepositoryRow,
  repository: Repository,
): Promise<Finding | undefined> {
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
async function checkConfig(
  { db }: CheckOptions,
  row: RepositoryRow,
  repository: Repository,
): Promise<Finding | undefined> {
  if (await hasConfig(repository)) return undefined;
  return {
    sentence: `${row.full_path}: its file config is missing or empty, so the repository cannot be read.`,
    repair: async () => {
      await replaceConfig(repository, await row.kind.objectFormat(db, row.id));
      return 'It has the settings of a new repository now.';
    },
  };
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
  const now = await currentRow(db, row);
  if (now?.storage !== row.storage) return [];
  return [{ sentence: `${row.full_path}: there is no repository at ${repository.path}. Restore it from a backup.` }];
}

async function checkRefs(
  options: CheckOptions,
  row: RepositoryRow,
  repository: Repository,
  isDamaged: boolean,
): Promise<Finding[]> {
  const before = await differences(options, row, repository, isDamaged);
  // A push may be between the repository and the database: only findings that appear twice are reported.
  return before.length === 0 || (await isMoving(options, row))
    ? []
    : await differences(options, row, repository, isDamaged);
}

/** Old ref updates are reported separately. */
async function isMoving({ db }: CheckOptions, { kind, id }: RepositoryRow): Promise<boolean> {
  const moving = await db
    .selectFrom('reference_updates')
    .select('id')
    .where(kind.column, '=', id)
    .where('created_at', '>', sql<string>`now() - make_interval(mins => ${underWay_minutes})`)
    .executeTakeFirst();
  return moving !== undefined;
}

async function differences(
  { db }: CheckOptions,
  before: RepositoryRow,
  repository: Repository,
  isDamaged: boolean,
): Promise<Finding[]> {
  const row = await currentRow(db, before);
  if (!row) return [];
  const [lost, head, branches] = await Promise.all([
    checkPushes(db, row, repository),
    headBranch(repository),
    listBranches(repository),
  ]);
  const { full_path, default_branch, kind } = row;
  const found = { lost, branches, isDamaged };
  const findings: Finding[] = [...lost, ...((await furtherDifferences[kind.name]?.(db, row, repository, found)) ?? [])];
  for (const problem of isDamaged ? [] : ((await kind.problems?.(db, row, repository)) ?? []))
    findings.push({ sentence: `${full_path}: ${problem}.` });
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
