/** Determines the start of an API commit, and whether its branch is created, moved or reset. */
import type { Project } from '../../../../access/index.ts';
import {
  fetchCommit,
  isEmpty,
  isValidBranchName,
  type Repository,
  repositoryOf,
  resolveBranch,
  resolveCommit,
} from '../../../../git/index.ts';
import { badRequest, type Services } from '../../../../http/index.ts';

/** The start of a commit that does not simply follow the head of its branch. */
export interface Start {
  /** The branch whose head becomes the parent; the branch itself by default. */
  start_branch?: string | undefined;
  /** Full id of the parent, instead of a branch. */
  start_sha?: string | undefined;
  /** The project that contains the start. */
  start_project?: Pick<Project, 'id' | 'storage'> | undefined;
  /** Whether an existing `branch` may be reset to the start. */
  force?: boolean | undefined;
}

/** The branch's current head (null for a new branch), and the parent of the new commit (null for none). */
export interface Base {
  head: string | null;
  parent: string | null;
}

interface BaseRequest extends Start {
  project: Pick<Project, 'id' | 'storage'>;
  branch: string;
}

function refuseBranchName(branch: string): void {
  if (!isValidBranchName(branch))
    throw badRequest(`Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`);
}

/** The parent of the new commit, resolved in the start repository; undefined if that is empty. */
async function startOf(
  source: Repository,
  { branch, start_branch, start_sha }: BaseRequest,
): Promise<string | undefined> {
  if (start_sha !== undefined) {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(start_sha)) throw badRequest(`Invalid start_sha '${start_sha}'`);
    const commit = await resolveCommit(source, start_sha.toLowerCase());
    if (commit !== start_sha.toLowerCase()) throw badRequest(`Cannot find start_sha '${start_sha}'`);
    return commit;
  }
  const start = await resolveBranch(source, start_branch || branch);
  if (start === undefined && !(await isEmpty(source)))
    throw badRequest('You can only create or edit files when you are on a branch');
  return start;
}

/** Whether the start differs from the branch itself. */
const isElsewhere = ({ project, branch, start_branch, start_sha, start_project }: BaseRequest): boolean =>
  start_sha !== undefined || (start_branch || branch) !== branch || (start_project ?? project).id !== project.id;

/**
 * Resolves the start of a commit. Afterwards its parent is in the project's own repository.
 * @throws ApiError 400 with the texts of docs/reference/repository.md
 */
export async function baseOf(services: Pick<Services, 'storages'>, request: BaseRequest): Promise<Base> {
  const { project, branch, start_project, force } = request;
  const repository = repositoryOf(services, project);
  const source = repositoryOf(services, start_project ?? project);
  const [head, start] = await Promise.all([resolveBranch(repository, branch), startOf(source, request)]);
  if (head !== undefined && !isElsewhere(request)) return { head, parent: head };
  if (head !== undefined && !force)
    throw badRequest(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`);
  if (head === undefined) refuseBranchName(branch);
  if (start !== undefined && source.path !== repository.path) await fetchCommit(source, repository, start);
  return { head: head ?? null, parent: start ?? null };
}
