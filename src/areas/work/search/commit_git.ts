/** Searching the messages of commits. */
import { mayReadCode } from '../../../access/index.ts';
import { commitsSaying, type Repository, readCommit, resolveCommit } from '../../../git/index.ts';
import { forbidden } from '../../../http/index.ts';
import { termsOf } from '../../../texts/index.ts';
import { CommitDetail, presentCommit } from '../../code/repository/index.ts';
import { commitOf } from './code_git.ts';
import { formed, type Scope } from './definition.ts';
import { inTurn, neededFor, pageOf } from './time_rules.ts';
import { type CodePlace, codePlaces } from './tree_queries.ts';

interface FoundCommit {
  place: CodePlace;
  repository: Repository;
  id: string;
}

/** The commits of one repository: that with the id which is searched for, or those that say all terms. */
async function commitsIn(
  { repository, commit_id }: { repository: Repository; commit_id: string },
  terms: readonly string[],
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<{ ids: string[]; is_complete: boolean }> {
  const [term = ''] = terms;
  const named =
    terms.length === 1 && /^[0-9a-f]{7,64}$/i.test(term) ? await resolveCommit(repository, term) : undefined;
  if (named !== undefined) return { ids: [named], is_complete: true };
  return commitsSaying(repository, commit_id, { texts: terms, limit, signal });
}

export const commitScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [CommitDetail],
  check(project) {
    if (!mayReadCode(project)) throw forbidden();
  },
  find(services, search) {
    const terms = termsOf(search.input.search);
    const limit = neededFor(search);
    return inTurn(async (signal) => {
      const found: FoundCommit[] = [];
      let isComplete = true;
      for (const place of await codePlaces(services.db, search)) {
        const at = signal.aborted ? undefined : await commitOf(services, place, search);
        if (signal.aborted) isComplete = false;
        if (!at) continue;
        const { ids, is_complete } = await commitsIn(at, terms, { limit, signal });
        if (!is_complete) isComplete = false;
        found.push(...ids.map((id) => ({ place, repository: at.repository, id })));
      }
      const read = await Promise.all(
        found.map(async (each) => ({ ...each, commit: await readCommit(each.repository, each.id) })),
      );
      const newestFirst = read.sort((one, other) =>
        other.commit.committed_date.localeCompare(one.commit.committed_date),
      );
      const page = pageOf(newestFirst, search, { isWhole: true, isComplete });
      const items = page.items.map(({ place, commit }) => ({
        ...presentCommit(services.url, place, commit),
        project_id: place.id,
        status: null,
        last_pipeline: null,
      }));
      return formed(CommitDetail, { ...page, items });
    });
  },
};
