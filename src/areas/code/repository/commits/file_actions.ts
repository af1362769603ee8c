/** File actions (docs/reference/repository.md) as tree changes, with their preconditions. */
import { nextTurn } from '../../../../foundation/loop_turns.ts';
import {
  type Change,
  type EntryType,
  entryAt,
  lastCommitOf,
  pathProblem,
  type Repository,
} from '../../../../git/index.ts';
import { badRequest } from '../../../../http/index.ts';
import { fileExists, missingFile } from '../rules.ts';

/** Members shared by every action on an existing file. */
interface OnFile {
  file_path: string;
  /** The last commit of the file that the client knows. */
  last_commit_id?: string | undefined;
}

/** One action, applied after the previous ones. */
export type FileAction =
  | { action: 'create'; file_path: string; content: Buffer; execute_filemode?: boolean | undefined }
  // If omitted, the mode stays.
  | (OnFile & { action: 'update'; content: Buffer; execute_filemode?: boolean | undefined })
  | (OnFile & { action: 'delete' })
  // If omitted, the content stays.
  | (OnFile & {
      action: 'move';
      previous_path: string;
      content?: Buffer | undefined;
      execute_filemode?: boolean | undefined;
    })
  | (OnFile & { action: 'chmod'; execute_filemode: boolean })
  | (OnFile & { action: 'submodule'; commit_id: string });

/** The file has changed since the client last read it. */
export class FileChanged extends Error {
  override name = 'FileChanged';
  readonly file_path: string;
  constructor(file_path: string) {
    super(`${file_path} has changed`);
    this.file_path = file_path;
  }
}

function refusePath(path: string): void {
  if (path === '') throw badRequest('You must provide a file path');
  if (path.split(/[/\\]/).includes('..')) throw badRequest('Path cannot include directory traversal');
  if (pathProblem(path) !== undefined) throw badRequest(`invalid path: '${path}'`);
}

export const noSubmodule = 'Invalid submodule path';

const isFile = (type: EntryType | undefined) => type === 'blob' || type === 'symlink';
const modeFor = (isExecutable: boolean | undefined) => (isExecutable ? '100755' : '100644');

/** The new mode, if one was requested. A symbolic link has no executable bit; clients send back the false that they received. */
function modeChange(path: string, there: EntryType | undefined, isExecutable: boolean | undefined): Change[] {
  if (isExecutable === undefined || there === 'symlink') return [];
  return [{ op: 'mode', path, mode: modeFor(isExecutable) }];
}

/**
 * The tree changes of one action.
 * @param there the entry at the source path
 */
function changesOf(action: FileAction, there: EntryType | undefined): Change[] {
  const { file_path: path } = action;
  if (action.action === 'create') {
    if (isFile(there)) throw badRequest(fileExists);
    return [{ op: 'put', path, mode: modeFor(action.execute_filemode), content: action.content }];
  }
  if (action.action === 'submodule') {
    if (there !== 'commit') throw badRequest(noSubmodule);
    return [{ op: 'submodule', path, commit_id: action.commit_id }];
  }
  if (!isFile(there)) throw badRequest(missingFile);
  if (action.action === 'move' && action.previous_path === path) throw badRequest(fileExists);
  if (action.action === 'delete') return [{ op: 'delete', path }];
  if (there === 'symlink' && action.execute_filemode) throw badRequest(missingFile);
  const mode = modeChange(path, there, action.execute_filemode);
  if (action.action === 'chmod') return mode;
  const from = action.action === 'move' ? action.previous_path : path;
  const { content } = action;
  return [{ op: 'move', from, path, ...(content === undefined ? {} : { content }) }, ...mode];
}

/** The source path of an action. */
const sourceOf = (action: FileAction): string => (action.action === 'move' ? action.previous_path : action.file_path);

/** @throws FileChanged */
async function refuseStale(repository: Repository, parent: string | null, action: FileAction): Promise<void> {
  if (action.action === 'create' || !action.last_commit_id || parent === null) return;
  const last = await lastCommitOf(repository, parent, sourceOf(action));
  if (last !== action.last_commit_id.toLowerCase()) throw new FileChanged(sourceOf(action));
}

/** Checking this many paths takes some milliseconds. */
const actions_per_turn = 100;

/**
 * The tree changes of all actions, in order.
 * @param parent the commit that they apply to; null for an empty repository
 * @throws ApiError 400 for an invalid path, or if a file exists or is missing contrary to an action's precondition
 * @throws FileChanged when a file's `last_commit_id` is not its last commit
 */
export async function changesFor(
  repository: Repository,
  parent: string | null,
  actions: readonly FileAction[],
): Promise<Change[]> {
  const after = new Map<string, EntryType | undefined>();
  const changes: Change[] = [];
  for (const [index, action] of actions.entries()) {
    // Trees come from memory, so without this the loop would block the event loop.
    if (index % actions_per_turn === actions_per_turn - 1) await nextTurn();
    const source = sourceOf(action);
    for (const path of new Set([action.file_path, source])) refusePath(path);
    await refuseStale(repository, parent, action);
    const before = async () => (parent === null ? undefined : (await entryAt(repository, parent, source))?.type);
    const there = after.has(source) ? after.get(source) : await before();
    changes.push(...changesOf(action, there));
    after.set(source, undefined);
    if (action.action !== 'delete') after.set(action.file_path, there ?? 'blob');
  }
  return changes;
}
