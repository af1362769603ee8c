/** Complete changes to branches (docs/reference/repository.md). */
import type { Project } from '../../../../access/index.ts';
import {
  isValidBranchName,
  listBranches,
  RefConflict,
  RefMoved,
  type RefUpdate,
  type Repository,
  reachableFrom,
  repositoryOf,
  resolveBranch,
  resolveCommit,
} from '../../../../git/index.ts';
import { badRequest, type Caller, conflict, type Services } from '../../../../http/index.ts';
import { protectionFor } from '../../protected_branches/queries.ts';
import { commitChanges } from '../commits/actions.ts';
import { defaultHead } from '../git.ts';
import { moveRefs } from '../moving/actions.ts';
import { projectRepositories } from '../owners/project_kind.ts';
import { refusePush } from '../push_checks/checks.ts';
import { branchRefusals } from '../rules.ts';

interface BranchRequest {
  project: Project;
  caller: Caller;
  branch: string;
}

const refOf = (branch: string) => `refs/heads/${branch}`;
/** Whether one of the names would be a folder that contains the other. */
const clash = (one: string, other: string) => one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
const inTheWay = (branch: string) =>
  badRequest(`Failed to create branch '${branch}': Branch name conflicts with existing branch hierarchy.`);
const alreadyExists = () => badRequest('Branch already exists');

/** Creates a commit in an empty repository for its first branch to start from. */
async function firstCommit(services: Services, { project, caller }: BranchRequest): Promise<string> {
  const readme = { action: 'create', file_path: 'README.md', content: Buffer.alloc(0) } as const;
  return commitChanges(services, {
    project,
    caller,
    branch: project.default_branch,
    message: 'Add README.md',
    actions: [readme],
  });
}

/** The start commit of a new branch, and whether creating that commit has created the branch as well. */
async function startOf(services: Services, request: BranchRequest, repository: Repository, ref: string) {
  const unknown = () => badRequest(`Failed to create branch '${request.branch}': invalid reference name '${ref}'`);
  const commit_id = await resolveCommit(repository, ref);
  if (commit_id !== undefined) return { commit_id, isMade: false };
  const { default_branch } = request.project;
  const isFirst =
    [default_branch, refOf(default_branch), 'HEAD'].includes(ref) && (await listBranches(repository)).length === 0;
  if (!isFirst) throw unknown();
  const [refusal] = branchRefusals(request.project, { ref: refOf(request.branch), old: null, new: '' });
  if (refusal !== undefined) throw badRequest(refusal);
  if (clash(request.branch, default_branch)) throw inTheWay(request.branch);
  return { commit_id: await firstCommit(services, request), isMade: request.branch === default_branch };
}

/**
 * Creates a branch. In an empty repository, the default branch is created first, with an empty README.md.
 * @param request.ref the branch, tag or commit to start from
 * @returns the id of its commit
 * @throws ApiError 400 with the texts of docs/reference/repository.md
 */
export async function createBranch(services: Services, request: BranchRequest & { ref: string }): Promise<string> {
  const { project, caller, branch, ref } = request;
  const repository = repositoryOf(services, project);
  if (!isValidBranchName(branch)) throw badRequest('Branch name is invalid');
  if ((await resolveBranch(repository, branch)) !== undefined) throw alreadyExists();
  const { commit_id, isMade } = await startOf(services, request, repository, ref);
  if (isMade) return commit_id;
  const update = { ref: refOf(branch), old: null, new: commit_id };
  await refusePush(services, { project, caller }, update);
  try {
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  } catch (error) {
    if (error instanceof RefMoved) throw alreadyExists();
    if (error instanceof RefConflict) throw inTheWay(branch);
    throw error;
  }
  return commit_id;
}

/**
 * Deletes a branch.
 * @param request.commit_id the head of the branch as the caller saw it
 * @throws ApiError 400 for the default branch, 409 if the branch has moved meanwhile
 */
export async function deleteBranch(services: Services, request: BranchRequest & { commit_id: string }): Promise<void> {
  const { project, caller, branch, commit_id } = request;
  const update = { ref: refOf(branch), old: commit_id, new: null };
  await refusePush(services, { project, caller }, update);
  try {
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  } catch (error) {
    if (error instanceof RefMoved) throw conflict(`Could not update ${update.ref}. Please refresh and try again.`);
    throw error;
  }
}

/** Each attempt skips the branches that moved during the previous one. */
const attempts = 5;

/** Deletes all merged branches, except those at the head of the default branch and protected ones. */
export async function deleteMergedBranches(
  services: Services,
  { project, caller }: Omit<BranchRequest, 'branch'>,
): Promise<void> {
  const repository = repositoryOf(services, project);
  const into = await defaultHead(repository, project);
  if (into === undefined) return;
  const [branches, protection] = await Promise.all([
    listBranches(repository),
    protectionFor(services.db, project, caller),
  ]);
  const heads = branches.map(({ commit_id }) => commit_id);
  const merged = await reachableFrom(repository, into, heads);
  let updates = branches
    .filter(({ name, commit_id }) => merged.has(commit_id) && commit_id !== into && name !== project.default_branch)
    .filter(({ name }) => !protection(name).is_protected)
    .map(({ name, commit_id }): RefUpdate => ({ ref: refOf(name), old: commit_id, new: null }));
  for (let attempt = 0; attempt < attempts && updates.length > 0; attempt++) {
    try {
      return await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, updates);
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error;
      const { refs } = error;
      updates = updates.filter(({ ref }) => !refs.includes(ref));
    }
  }
}
