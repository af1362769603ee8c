/** Searches commit messages. */
import { mayReadCode } from '../../../access/index.ts';
import { commitsSaying, type FoundCommit, type Repository, readCommit, resolveCommit } from '../../../git/index.ts';
import { forbidden } from '../../../http/index.ts';
import { termsOf } from '../../../texts/index.ts';
import { CommitDetail, presentCommit } from '../../code/repository/index.ts';
import { commitOf } from './code_git.ts';
import { formed, type Scope } from './definition.ts';
import { inTurn, neededFor, pageOf } from './time_rules.ts';
import { type CodePlace, codePlaces } from './tree_queries.ts';

interface FoundIn extends FoundCommit {
  place: CodePlace;
  repository: Repository;
}

/** The most commits that are sorted. */
const maximumCommits = 100_000;

async function dated(repository: Repository, id: string): Promise<FoundCommit> {
  return { id, committed_s: Date.parse((await readCommit(repository, id)).committed_date) / 1000 };
}

/** The commits of one repository: the commit with the searched id, or those whose message contains all terms. */
async function commitsIn(
  { repository, commit_id }: { repository: Repository; commit_id: string },
  terms: readonly string[],
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<{ commits: FoundCommit[]; is_complete: boolean }> {
  const [term = ''] = terms;
  const named =
    terms.length === 1 && /^[0-9a-f]{7,64}$/i.test(term) ? await resolveCommit(repository, term) : undefined;
  // A branch or tag may have that name, too.
  if (named?.startsWith(term.toLowerCase())) return { commits: [await dated(repository, named)], is_complete: true };
  return commitsSaying(repository, commit_id, { texts: terms, limit, signal });
}

export const commitScope: Scope = {
  ends_itself: true,
  levels: ['global', 'group', 'project'],
  forms: [CommitDetail],
  check(project) {
    if (!mayReadCode(project)) throw forbidden();
  },
  find(services, search) {
    const terms = termsOf(search.input.search);
    const limit = neededFor(search);
    return inTurn(search, async (signal) => {
      const found: FoundIn[] = [];
      let [isComplete, isWhole] = [true, true];
      for (const place of await codePlaces(services.db, search)) {
        if (signal.aborted || found.length >= maximumCommits) {
          isComplete = false;
          break;
        }
        const at = await commitOf(services, place, search);
        if (!at) continue;
        const { commits, is_complete } = await commitsIn(at, terms, { limit, signal });
        if (!is_complete) isComplete = false;
        if (commits.length >= limit) isWhole = false;
        for (const commit of commits) found.push({ ...commit, place, repository: at.repository });
      }
      const newestFirst = found.sort((one, other) => other.committed_s - one.committed_s);
      const page = pageOf(newestFirst, search, { isWhole, isComplete });
      const items = await Promise.all(
        page.items.map(async ({ place, repository, id }) => ({
          ...presentCommit(services.url, place, await readCommit(repository, id)),
          project_id: place.id,
          status: null,
          last_pipeline: null,
        })),
      );
      return formed(CommitDetail, { ...page, items });
    });
  },
};
