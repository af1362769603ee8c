/** Repository queries that several endpoints share. */
import type { Project } from '../../../access/index.ts';
import {
  GitError,
  isAncestor,
  listBranches,
  listTags,
  type RefUpdate,
  type Repository,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../services/index.ts';

/** The repository of an owner of any kind. */
export const ownedRepository = (
  services: Pick<RepositoryServices, 'storages'>,
  { kind, owner: { id, storage } }: { kind: RepositoryKind; owner: Owner },
): Repository => repositoryOf(services, { id, storage, folder: kind.folder });

/** The current targets of all branches and tags, by full name. */
async function currentRefs(repository: Repository): Promise<Map<string, string>> {
  const [branches, tags] = await Promise.all([listBranches(repository), listTags(repository)]);
  return new Map([
    ...branches.map(({ name, commit_id }) => [`refs/heads/${name}`, commit_id] as const),
    ...tags.map(({ name, id }) => [`refs/tags/${name}`, id] as const),
  ]);
}

/** Whether a commit is in the history of another; an object that never arrived is in none. */
async function isReachable(repository: Repository, commit: string, from: string): Promise<boolean> {
  try {
    return await isAncestor(repository, commit, from);
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

/** The `updates` that have happened: the reference is at its target, or has moved on from there. */
export async function whatMoved(repository: Repository, updates: readonly RefUpdate[]): Promise<RefUpdate[]> {
  const refs = await currentRefs(repository);
  const moved: RefUpdate[] = [];
  for (const update of updates) {
    const now = refs.get(update.ref) ?? null;
    if (now === update.new) moved.push(update);
    else if (
      now !== update.old &&
      now !== null &&
      update.new !== null &&
      (await isReachable(repository, update.new, now))
    )
      moved.push(update);
  }
  return moved;
}

/** The head of the default branch; undefined in an empty repository. */
export const defaultHead = (
  repository: Repository,
  project: Pick<Project, 'default_branch'>,
): Promise<string | undefined> => resolveBranch(repository, project.default_branch);
