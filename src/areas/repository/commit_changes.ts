/** Committing changes of files to a branch, without a push: one commit, made whole or not at all (repository-files.md, repository.md section 5.3). */

import type { Project } from '../../access/index.ts';
import {
  type Change,
  ChangeRefused,
  type EntryType,
  entryAt,
  isEmpty,
  isValidBranchName,
  lastCommitOf,
  type Person,
  pathProblem,
  RefConflict,
  RefMoved,
  type RefUpdate,
  type Repository,
  resolveBranch,
  writeCommit,
} from '../../git/index.ts';
import type { Caller } from '../../http/index.ts';
import { badRequest, type Services } from '../../http/index.ts';
import { moveRefs } from './actions.ts';
import { repositoryOf } from './place.ts';
import { pushRefusals } from './rules.ts';

/** One change, made after those before it. `last_commit_id` is the last commit of the file that the caller knows of. */
export type FileAction =
  | { action: 'create'; file_path: string; content: Buffer; execute_filemode?: boolean | undefined }
  | {
      action: 'update';
      file_path: string;
      content: Buffer;
      /** Left out, the mode stays. */
      execute_filemode?: boolean | undefined;
      last_commit_id?: string | undefined;
    }
  | { action: 'delete'; file_path: string; last_commit_id?: string | undefined };

export interface CommitRequest {
  project: Project;
  caller: Pick<Caller, 'id' | 'name' | 'commit_email'>;
  branch: string;
  /** The branch that a new `branch` begins at. */
  start_branch?: string | undefined;
  message: string;
  /** By default the caller. */
  author_name?: string | undefined;
  author_email?: string | undefined;
  actions: readonly FileAction[];
}

/** The file has changed since the caller last saw it. */
export class FileChanged extends Error {
  override name = 'FileChanged';
  readonly file_path: string;
  constructor(file_path: string) {
    super(`${file_path} has changed`);
    this.file_path = file_path;
  }
}

const exists = 'A file with this name already exists';
const missing = "A file with this name doesn't exist";
const refusals: Record<Exclude<ChangeRefused['reason'], 'invalid_path'>, string> = {
  missing,
  exists,
  not_a_file: 'A directory with this name already exists',
  // A file stands where a folder on the way to the path would have to be.
  not_a_folder: exists,
};

function refusePath(path: string): void {
  if (path === '') throw badRequest('You must provide a file path');
  if (path.split(/[/\\]/).includes('..')) throw badRequest('Path cannot include directory traversal');
  if (pathProblem(path) !== undefined) throw badRequest(`invalid path: '${path}'`);
}

/** Where the commit goes: the branch's present head (null: it is new), and the commit that the new one follows (null: none). */
interface Base {
  head: string | null;
  parent: string | null;
}

function refuseBranchName(branch: string): void {
  if (!isValidBranchName(branch))
    throw badRequest(`Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`);
}

async function baseOf(repository: Repository, branch: string, start_branch: string): Promise<Base> {
  const [head, start] = await Promise.all([resolveBranch(repository, branch), resolveBranch(repository, start_branch)]);
  if (start === undefined) {
    if (head !== undefined || !(await isEmpty(repository)))
      throw badRequest('You can only create or edit files when you are on a branch');
    refuseBranchName(branch);
    return { head: null, parent: null };
  }
  if (branch === start_branch) return { head: start, parent: start };
  if (head !== undefined)
    throw badRequest(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`);
  refuseBranchName(branch);
  return { head: null, parent: start };
}

const isFile = (type: EntryType | undefined) => type === 'blob' || type === 'symlink';
const modeFor = (isExecutable: boolean | undefined) => (isExecutable ? '100755' : '100644');

/** The change that an action is, to a path where `there` stands. */
function changeFor(action: FileAction, there: EntryType | undefined): Change {
  const { file_path: path } = action;
  if (action.action === 'create') {
    if (isFile(there)) throw badRequest(exists);
    return { op: 'put', path, mode: modeFor(action.execute_filemode), content: action.content };
  }
  if (!isFile(there)) throw badRequest(missing);
  if (action.action === 'delete') return { op: 'delete', path };
  const { content, execute_filemode } = action;
  // A link has no such mode; clients send back the false that they were shown.
  if (there === 'symlink' && execute_filemode) throw badRequest(missing);
  return execute_filemode === undefined || there === 'symlink'
    ? { op: 'move', from: path, path, content }
    : { op: 'put', path, mode: modeFor(execute_filemode), content };
}

async function changesFor(repository: Repository, parent: string | null, actions: readonly FileAction[]): Promise<Change[]> {
  const after = new Map<string, EntryType | undefined>();
  const changes: Change[] = [];
  for (const action of actions) {
    const { file_path } = action;
    refusePath(file_path);
    await refuseStale(repository, parent, action);
    const before = async () => (parent === null ? undefined : (await entryAt(repository, parent, file_path))?.type);
    const there = after.has(file_path) ? after.get(file_path) : await before();
    changes.push(changeFor(action, there));
    after.set(file_path, action.action === 'delete' ? undefined : (there ?? 'blob'));
  }
  return changes;
}

async function refuseStale(repository: Repository, parent: string | null, action: FileAction): Promise<void> {
  if (action.action === 'create' || !action.last_commit_id || parent === null) return;
  const last = await lastCommitOf(repository, parent, action.file_path);
  if (last !== action.last_commit_id.toLowerCase()) throw new FileChanged(action.file_path);
}

async function write(repository: Repository, commit: Parameters<typeof writeCommit>[1]): Promise<string> {
  try {
    const { id, is_changed } = await writeCommit(repository, commit);
    if (is_changed) return id;
  } catch (error) {
    if (!(error instanceof ChangeRefused)) throw error;
    throw badRequest(error.reason === 'invalid_path' ? `invalid path: '${error.path}'` : refusals[error.reason]);
  }
  throw badRequest('Your changes could not be committed, because the file has been changed, or there was nothing to commit');
}

/** The people of a commit: whoever calls commits, and is the author unless another is named. */
function peopleOf({ caller, author_name, author_email }: CommitRequest): { author: Person; committer: Person } {
  const committer = { name: caller.name, email: caller.commit_email, date: new Date() };
  return { committer, author: { ...committer, name: author_name || committer.name, email: author_email || committer.email } };
}

async function move(services: Services, { project, caller, branch }: CommitRequest, update: RefUpdate): Promise<void> {
  const [refusal] = pushRefusals(project, [update]);
  if (refusal !== undefined) throw badRequest(refusal);
  try {
    await moveRefs(services, { project, user_id: caller.id }, [update]);
  } catch (error) {
    if (error instanceof RefMoved) throw badRequest(`Could not update ${update.ref}. Please refresh and try again.`);
    if (error instanceof RefConflict)
      throw badRequest(
        `Something went wrong when we tried to create '${branch}' for you: Branch name conflicts with existing branch hierarchy.`,
      );
    throw error;
  }
}

/**
 * Makes one commit of all `actions` and moves the branch to it. In an empty repository the branch begins with it.
 * @returns the id of the commit
 * @throws ApiError 400 when the branch, a path or a push rule does not allow it, or nothing would change
 * @throws FileChanged when a file's `last_commit_id` is not its last commit
 */
export async function commitChanges(services: Services, request: CommitRequest): Promise<string> {
  const { project, branch, message, actions } = request;
  const repository = repositoryOf(services, project);
  const { head, parent } = await baseOf(repository, branch, request.start_branch || branch);
  const changes = await changesFor(repository, parent, actions);
  const id = await write(repository, { parent, message, changes, ...peopleOf(request) });
  await move(services, request, { ref: `refs/heads/${branch}`, old: head, new: id });
  return id;
}
