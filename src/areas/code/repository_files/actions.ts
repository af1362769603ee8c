/** Complete changes to one file. */
import { badRequest, type Services } from '../../../http/index.ts';
import { type CommitRequest, commitChanges } from '../repository/commits/actions.ts';
import { type FileAction, FileChanged } from '../repository/commits/file_actions.ts';

const staleTexts = {
  update: 'You are attempting to update a file that has changed since you started editing it.',
  delete: 'You are attempting to delete a file that has been previously updated.',
};

/**
 * Commits a change to one file.
 * @throws ApiError 400 with the texts of docs/reference/repository_files.md
 */
export async function writeFile(
  services: Services,
  { commit_message, ...request }: Omit<CommitRequest, 'message' | 'actions'> & { commit_message: string },
  action: Extract<FileAction, { action: 'create' | 'update' | 'delete' }>,
): Promise<void> {
  try {
    await commitChanges(services, { ...request, message: commit_message, actions: [action] });
  } catch (error) {
    if (error instanceof FileChanged && action.action !== 'create') throw badRequest(staleTexts[action.action]);
    throw error;
  }
}
