/** Searching code, commits and wikis, repository by repository, within a limit of time. */
import { mayReadCode, mayUse } from '../../../access/index.ts';
import { checkExpression, InvalidExpression } from '../../../expressions/index.ts';
import { Semaphore } from '../../../foundation/semaphore.ts';
import {
  commitsSaying,
  type Repository,
  readCommit,
  repositoryOf,
  resolveBranch,
  resolveCommit,
} from '../../../git/index.ts';
import {
  ApiError,
  badParams,
  type FormedPage,
  forbidden,
  notFound,
  reaches,
  type Services,
} from '../../../http/index.ts';
import { pageAsked } from '../../../lists/index.ts';
import { termsOf } from '../../../texts/index.ts';
import {
  codeQueryOf,
  FoundBlob,
  presentRun,
  type Run,
  runsOf,
  type SearchedTree,
  searchFiles,
} from '../../code/code_search/index.ts';
import { CommitDetail, presentCommit } from '../../code/repository/index.ts';
import { planOfGroups, repositoryOfWiki } from '../../code/wikis/index.ts';
import { formed, type Scope, type Search } from './definition.ts';
import { type CodePlace, codePlaces, wikiPlaces } from './tree_queries.ts';

/** A search ends then with what it has found. */
const maximumSearch_ms = 5_000;
/** A search takes a processor or two of git; others wait for their turn, so that it leaves some for everybody else. */
const turns = new Semaphore(2, 100);
/** Lists are counted up to this. */
const maximumCounted = 1_000;

const incomplete = { 'x-search-incomplete': 'true' };

async function inTurn<T>(search: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    await turns.take(maximumSearch_ms);
  } catch {
    throw new ApiError(503, { message: '503 Service Unavailable - Too many searches are running' });
  }
  try {
    return await search(AbortSignal.timeout(maximumSearch_ms));
  } finally {
    turns.release();
  }
}

/** A page of what was found, of all of it or of as much as the page needs. */
function pageOf<T>(
  found: readonly T[],
  { input }: Search,
  { isWhole, isComplete }: { isWhole: boolean; isComplete: boolean },
) {
  const { page, per_page, offset } = pageAsked(input);
  return {
    items: found.slice(offset, offset + per_page),
    page,
    per_page,
    has_more: found.length > offset + per_page,
    ...(isWhole && isComplete && found.length <= maximumCounted ? { total: found.length } : {}),
    ...(isComplete ? {} : { headers: incomplete }),
  };
}

/** How many a page needs, with one to know whether another page follows. */
const neededFor = ({ input }: Search): number => {
  const { offset, per_page } = pageAsked(input);
  return Math.max(offset + per_page + 1, maximumCounted + 1);
};

/** @throws ApiError 400 for a text that is no expression */
async function queryFor({ input: { search, regex } }: Search) {
  if (!regex) return codeQueryOf(search);
  const expression = { source: search, ignores_case: true };
  try {
    await checkExpression(expression);
  } catch (error) {
    if (error instanceof InvalidExpression)
      throw badParams(`search is not a valid regular expression: ${error.reason}`);
    throw error;
  }
  return { text: search, filters: [], expression };
}

async function findInTrees(
  trees: (signal: AbortSignal) => AsyncIterable<SearchedTree>,
  search: Search,
  isShown: (path: string) => boolean = () => true,
): Promise<FormedPage<unknown>> {
  const query = await queryFor(search);
  const context = search.input.num_context_lines;
  const needed = neededFor(search);
  return inTurn(async (signal) => {
    const runs: Run[] = [];
    let [isComplete, isWhole] = [true, true];
    for await (const tree of trees(signal)) {
      if (signal.aborted) isComplete = false;
      else if (runs.length >= needed) isWhole = false;
      if (!isComplete || !isWhole) break;
      const { files, is_complete } = await searchFiles(tree.repository, tree.commit_id, query, signal);
      if (!is_complete) isComplete = false;
      for (const file of files) if (isShown(file.path)) runs.push(...runsOf(tree, file, context));
    }
    const page = pageOf(runs, search, { isWhole, isComplete });
    const items = [];
    for (const run of page.items) items.push(await presentRun(run, context));
    return formed(FoundBlob, { ...page, items });
  });
}

/** The commit that a search in one repository looks at. @throws ApiError 404 */
async function commitAsked(repository: Repository, ref: string): Promise<string> {
  const id = await resolveCommit(repository, ref);
  if (id === undefined) throw notFound('Reference');
  return id;
}

/** The commit of a place that is searched; undefined for an empty repository. */
async function commitOf(services: Services, place: CodePlace, { within, input }: Search) {
  const repository = repositoryOf(services, place);
  const ref = 'project' in within ? input.ref : undefined;
  const commit_id =
    ref === undefined ? await resolveBranch(repository, place.default_branch) : await commitAsked(repository, ref);
  return commit_id === undefined ? undefined : { repository, commit_id, ref: ref ?? place.default_branch };
}

export const blobScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [FoundBlob],
  check(project) {
    if (!mayReadCode(project)) throw forbidden();
  },
  find(services, search) {
    const trees = async function* () {
      for (const place of await codePlaces(services.db, search)) {
        const found = await commitOf(services, place, search);
        if (found) yield { ...found, owner: { project_id: place.id } };
      }
    };
    return findInTrees(trees, search);
  },
};

const isPage = (path: string): boolean => /\.(md|markdown|mkdn?|rdoc|adoc|asciidoc|org)$/i.test(path);

export const wikiScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [FoundBlob],
  check(project) {
    if (!mayUse(project, 'wiki')) throw forbidden();
  },
  find(services, search) {
    const withGroups = reaches(search.plan, planOfGroups);
    const trees = async function* () {
      for (const wiki of await wikiPlaces(services.db, search, withGroups)) {
        const repository = repositoryOfWiki(services, wiki);
        const ref = 'project' in search.within ? search.input.ref : undefined;
        const commit_id =
          ref === undefined ? await resolveBranch(repository, wiki.default_branch) : await commitAsked(repository, ref);
        const { project_id, group_id } = wiki;
        const owner = project_id === null ? { group_id: group_id! } : { project_id };
        if (commit_id !== undefined) yield { repository, commit_id, ref: ref ?? wiki.default_branch, owner };
      }
    };
    return findInTrees(trees, search, isPage);
  },
};

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
