/** Committing file changes to a branch through the API: one commit, all or nothing (docs/reference/repository.md). */

import type { Project } from '../../../../access/index.ts';
import {
  ChangeRefused,
  type Person,
  RefConflict,
  type RefUpdate,
  type Repository,
  repositoryOf,
  type WrittenCommit,
  writeCommit,
} from '../../../../git/index.ts';
import { badRequest, type Caller, type Services } from '../../../../http/index.ts';
import { moveRefsBeforeEffects } from '../moving/actions.ts';
import { projectRepositories } from '../owners/project_kind.ts';
import { branchRefusal, mayCommitTo, refusePush } from '../push_checks/checks.ts';
import { fileExists, missingFile } from '../rules.ts';
import { baseOf, type Start } from './base_git.ts';
import { changesFor, type FileAction } from './file_actions.ts';
import { inTurn } from './turn_actions.ts';

export interface CommitRequest extends Start {
  project: Project;
  caller: Pick<Caller, 'id' | 'admin' | 'name' | 'commit_email'>;
  branch: string;
  message: string;
  /** Defaults to the caller. */
  author_name?: string | undefined;
  author_email?: string | undefined;
  actions: readonly FileAction[];
}

const refusals: Record<Exclude<ChangeRefused['reason'], 'invalid_path'>, string> = {
  missing: missingFile,
  exists: fileExists,
  not_a_file: 'A directory with this name already exists',
  // The path has a file where it needs a folder.
  not_a_folder: fileExists,
};

/**
 * As `writeCommit`.
 * @throws ApiError 400 for a change that conflicts with the files of the parent
 */
export async function writeChanges(
  repository: Repository,
  commit: Parameters<typeof writeCommit>[1],
): Promise<WrittenCommit> {
  try {
    return await writeCommit(repository, commit);
  } catch (error) {
    if (!(error instanceof ChangeRefused)) throw error;
    throw badRequest(error.reason === 'invalid_path' ? `invalid path: '${error.path}'` : refusals[error.reason]);
  }
}

async function write(repository: Repository, commit: Parameters<typeof writeCommit>[1]): Promise<string> {
  const { id, is_changed } = await writeChanges(repository, commit);
  if (is_changed) return id;
  throw badRequest(
    'Your changes could not be committed, because the file has been changed, or there was nothing to commit',
  );
}

/** The author and the committer of a commit: the caller is both, unless the request names another author. */
function peopleOf({ caller, author_name, author_email }: Omit<CommitRequest, 'actions'>): {
  author: Person;
  committer: Person;
} {
  const committer = { name: caller.name, email: caller.commit_email, date: new Date() };
  return {
    committer,
    author: { ...committer, name: author_name ?? committer.name, email: author_email ?? committer.email },
  };
}

/**
 * @returns a function that writes the effects of the move
 * @throws RefMoved if the branch has moved meanwhile
 */
async function move(
  services: Services,
  { project, caller, branch }: Omit<CommitRequest, 'actions'>,
  update: RefUpdate,
): Promise<() => Promise<void>> {
  await refusePush(services, { project, caller }, update);
  try {
    return await moveRefsBeforeEffects(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [
      update,
    ]);
  } catch (error) {
    if (error instanceof RefConflict)
      throw badRequest(
        `Something went wrong when we tried to create '${branch}' for you: Branch name conflicts with existing branch hierarchy.`,
      );
    throw error;
  }
}

/**
 * Creates one commit from all `actions` and moves the branch to it, queued behind other commits to the branch. In an empty repository it creates the branch.
 * @returns the id of the commit
 * @throws ApiError 400 if the branch, a path or a push rule does not allow it, or if nothing would change
 * @throws FileChanged if a file's `last_commit_id` is not its last commit
 */
export const commitChanges = (services: Services, { actions, ...request }: CommitRequest): Promise<string> =>
  commitOnto(services, request, async () => actions);

/**
 * The same for changes that depend on the content of the branch.
 * @param actionsFor returns the changes to a parent (null in an empty repository). It is called again if the branch has moved meanwhile.
 */
export async function commitOnto(
  services: Services,
  request: Omit<CommitRequest, 'actions'>,
  actionsFor: (parent: string | null) => Promise<readonly FileAction[]>,
): Promise<string> {
  const { project, branch, message } = request;
  const repository = repositoryOf(services, project);
  if (!(await mayCommitTo(services, request, branch))) throw badRequest(branchRefusal);
  const { id, writeEffects } = await inTurn(repository, branch, async () => {
    const { head, parent } = await baseOf(services, request);
    const changes = await changesFor(repository, parent, await actionsFor(parent));
    const id = await write(repository, { parent, message, changes, ...peopleOf(request) });
    return { id, writeEffects: await move(services, request, { ref: `refs/heads/${branch}`, old: head, new: id }) };
  });
  // Outside the queue: the next commit needs the head of the branch, but not the rows in the database.
  await writeEffects();
  return id;
}
