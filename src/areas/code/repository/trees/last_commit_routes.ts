/** The last commits of the entries of a folder. */
import { Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import { lastCommitsIn, readCommit, repositoryOf } from '../../../../git/index.ts';
import { get, listOf, resource } from '../../../../http/index.ts';
import { Commit, presentCommit } from '../present.ts';

export const LastCommit = resource('LastCommit', {
  name: Type.String({ description: 'Of an entry of the folder' }),
  commit: Commit,
});

/** The longest wait of a page; it gets a partial result if the history is long. */
const wait_ms = 50;

/** For pages only: the API would need a way to report that entries are missing. */
export const lastCommitRoute = get('/projects/:id/repository/tree/last_commits', {
  operation: 'listLastCommits',
  summary: 'List the last commits of entries of a folder, as far as they are found at once',
  access: codeReader,
  input: {
    commit_id: Type.String(),
    path: Type.String({ description: 'The folder; empty for the top' }),
    names: Type.Array(Type.String(), { maxItems: 100 }),
  },
  returns: listOf(LastCommit),
  handle: async ({ project, input: { commit_id, path, names }, ...services }) => {
    const repository = repositoryOf(services, project);
    const found = await lastCommitsIn(repository, commit_id, { folder: path, names, wait_ms });
    return Promise.all(
      [...found].map(async ([name, id]) => ({
        name,
        commit: presentCommit(services.url, project, await readCommit(repository, id)),
      })),
    );
  },
});
