/** Committing what was written in a form. */
import type { Static } from 'typebox';
import { ApiError, type Values } from '../../../http/index.ts';
import { isTicked, type PageCall, textIn } from '../../../pages/index.ts';
import { CommitDetail } from '../../code/repository/index.ts';
import { newMergeRequestAddress } from '../../work/merge_requests/index.ts';
import type { Writing } from './place_queries.ts';

/** An action of `createCommit`. */
export interface FileChange {
  action: 'create' | 'update' | 'move' | 'delete';
  file_path: string;
  previous_path?: string;
  content?: string | Uint8Array;
  last_commit_id?: string;
}

const changedText =
  'The file has changed since you began. Your text is still in the field, and the file as it is now is below it. Send the form again to replace the file.';

/** Where the new branch starts. */
function startOf({ place: { id, ref, commit }, is_branch, into }: Writing, branch: string) {
  if (!commit || (!into?.is_fork && branch === ref)) return {};
  return {
    ...(is_branch ? { start_branch: ref } : { start_sha: commit.id }),
    ...(into?.is_fork ? { start_project: id } : {}),
  };
}

/**
 * Commits changes of files to the branch in the fields, which is created if it is another one.
 * @param message for a commit without one
 * @param isStale asks, after a refusal, whether the reason is that the file has changed meanwhile
 * @returns the address to go to: the new merge request, if one was asked for, or what `shownAt` says of the branch
 * @throws ApiError the refusal of the API, or 409 for what has changed meanwhile
 */
export async function commitChanges(
  call: PageCall,
  writing: Writing,
  fields: Values,
  {
    actions,
    message,
    isStale = async () => false,
    shownAt,
  }: {
    actions: readonly FileChange[];
    message: string;
    isStale?: () => Promise<boolean>;
    shownAt(project: string, branch: string): string;
  },
): Promise<string> {
  const { into, place } = writing;
  const branch = textIn(fields, 'branch') ?? place.ref;
  if (!into) throw new ApiError(403, { message: 'You may not change this project. Fork it first' });
  const commit_message = textIn(fields, 'commit_message') ?? message;
  const change = { branch, commit_message, actions, stats: false, ...startOf(writing, branch) };
  const given: Static<typeof CommitDetail> | ApiError = await call
    .one(CommitDetail, 'createCommit', { ...change, id: into.id })
    .catch((error) => {
      if (error instanceof ApiError && error.status === 400) return error;
      throw error;
    });
  if (given instanceof ApiError) {
    if (await isStale()) throw new ApiError(409, { message: changedText });
    throw given;
  }
  const isNew = into.is_fork || branch !== place.ref;
  if (!isNew || !place.commit || !isTicked(fields, 'merge_request')) return shownAt(into.path, branch);
  const target = writing.is_branch ? { target_branch: place.ref } : {};
  return newMergeRequestAddress(into.path, { source_branch: branch, ...target });
}
