/** Imports the wiki of a project or group from another server. It triggers no notifications. */
import type { Owner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { FetchedRefs, Repository } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { beforeAll } from '../repository/moving/actions.ts';
import { recordRefsIn } from '../repository/moving/recorded_ref_queries.ts';
import { maintainSoon } from '../repository/owners/jobs.ts';
import { openWiki } from './creation_actions.ts';
import { repositoryOfWiki } from './git.ts';
import { chooseBranch, wikiRepositories } from './kind.ts';

/** The usual branches for pages on other servers that do not name one. */
const usual = ['refs/heads/main', 'refs/heads/master'];

/**
 * Fills the repository of a wiki that has no pages yet.
 * @param fetch receives the repository
 * @returns the number of skipped refs, and a function that records the others; the caller's transaction calls it
 * @throws ApiError 404 if the project or group is gone; the errors of `fetch`
 */
export async function fillWiki(
  services: Services,
  place: Owner,
  fetch: (repository: Repository) => Promise<FetchedRefs>,
): Promise<{ skipped: number; record(tx: Database): Promise<void> }> {
  const wiki = await openWiki(services, wikiRepositories, place);
  const { refs, skipped } = await fetch(repositoryOfWiki(services, wiki));
  const moved = Array.from(refs, ([ref, to]) => ({ ref, old: null, new: to }));
  const byUse = moved.toSorted((one, other) => Number(usual.includes(other.ref)) - Number(usual.includes(one.ref)));
  return {
    skipped,
    async record(tx) {
      await recordRefsIn(tx, 'recorded_wiki_refs', wiki.id, { moved, update_id: beforeAll });
      await chooseBranch(tx, services, wiki.id, byUse);
      await maintainSoon(tx, wikiRepositories, wiki.id);
    },
  };
}
