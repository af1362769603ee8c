/** Imports the history of snippets from another server. It triggers no notifications. */
import type { Snippet } from '../../../access/index.ts';
import { fetchCommit, type Repository, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { moveRefs } from '../repository/moving/actions.ts';
import { snippetRefusals } from './content_checks.ts';
import { placeOf, type SnippetChanges, snippetRepositories } from './kind.ts';

/** Accept files of any size from the source, as for the files in a record. */
const noLimit = 0;

/**
 * Moves the branch of a snippet to a commit of another repository.
 * @param from a local repository that contains the commit
 * @returns the reasons for refusing the commit, empty if it is accepted
 * @throws RefMoved if the snippet is changed meanwhile
 */
export async function fillSnippet(
  services: Services,
  snippet: Pick<Snippet, 'id' | 'storage' | 'branch' | 'updated_at'>,
  from: Repository,
  commit: string,
): Promise<string[]> {
  const { branch, updated_at } = snippet;
  const repository = repositoryOf(services, placeOf(snippet));
  const ref = `refs/heads/${branch}`;
  const update = { ref, old: (await resolveBranch(repository, branch)) ?? null, new: commit };
  if (update.old === commit) return [];
  const refusals = await snippetRefusals(from, { updates: [update], quarantine: {} }, { branch, limit_bytes: noLimit });
  if (refusals.length > 0) return refusals;
  await fetchCommit(from, repository, commit);
  const changes: SnippetChanges = { updated_at };
  await moveRefs(services, { kind: snippetRepositories, owner: snippet, user_id: null, changes }, [update]);
  return [];
}
