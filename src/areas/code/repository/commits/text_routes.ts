/** Commits as text, for the URLs of their pages with `.diff` and `.patch`. */
import { Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import { readCommit, repositoryOf, resolveCommit, streamDiff, streamPatch } from '../../../../git/index.ts';
import { bytes, found, get } from '../../../../http/index.ts';
import { uncached } from '../trees/content_rules.ts';

/** For pages only: API clients read the diffs of a commit as a list. */
export const commitTextRoute = get('/projects/:id/repository/commits/:sha/text', {
  operation: 'getCommitText',
  summary: 'Get a commit as a diff, or as a mail that `git am` applies',
  access: codeReader,
  input: { sha: Type.String(), format: Type.Enum(['diff', 'patch']) },
  returns: bytes(['text/plain']),
  refusals: { 404: '404 Commit Not Found' },
  handle: async ({ project, input: { sha, format }, ...services }) => {
    const repository = repositoryOf(services, project);
    const id = found('Commit', await resolveCommit(repository, sha));
    const { parent_ids } = await readCommit(repository, id);
    const body =
      format === 'patch'
        ? streamPatch(repository, id)
        : streamDiff(repository, { from: parent_ids[0] ?? null, to: id });
    return { body, headers: { 'content-type': 'text/plain; charset=utf-8', ...uncached } };
  },
});
