/** Searches code, commits and wikis, one repository after the other, within a time limit. */
import { mayReadCode, mayUse } from '../../../access/index.ts';
import { checkExpression, InvalidExpression } from '../../../expressions/index.ts';
import { type Repository, repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import {
  badParams,
  badRequest,
  type FormedPage,
  forbidden,
  notFound,
  reaches,
  type Services,
} from '../../../http/index.ts';
import {
  codeQueryOf,
  FoundBlob,
  matchIn,
  presentRuns,
  type Run,
  runsOf,
  type SearchedTree,
  searchFiles,
} from '../../code/code_search/index.ts';
import { planOfGroups, repositoryOfWiki } from '../../code/wikis/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { formed, type Scope, type Search } from './definition.ts';
import { type IndexedRuns, searchIndex } from './index_search_queries.ts';
import { inTurn, neededFor, pageOf } from './time_rules.ts';
import { type CodePlace, codePlaces, wikiPlaces } from './tree_queries.ts';

/** @throws ApiError 400 if the text is not a valid expression */
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

/** The searched commit of a repository. */
interface SearchedCommit extends SearchedTree {
  commit_id: string;
}

/** The results before repositories are searched. */
type Begun = Pick<IndexedRuns, 'runs' | 'is_whole' | 'is_complete'>;
const nothingYet: Begun = { runs: [], is_whole: true, is_complete: true };

async function findInTrees(
  trees: () => AsyncIterable<SearchedCommit>,
  search: Search,
  {
    query,
    signal,
    isShown = () => true,
    begun = nothingYet,
  }: {
    signal: AbortSignal;
    query: Awaited<ReturnType<typeof queryFor>>;
    isShown?: (path: string) => boolean;
    begun?: Begun;
  },
): Promise<FormedPage<unknown>> {
  const context = search.input.num_context_lines;
  const needed = neededFor(search);
  const runs: Run[] = [];
  let { is_complete: isComplete, is_whole: isWhole } = begun;
  for await (const tree of trees()) {
    if (signal.aborted) isComplete = false;
    else if (runs.length >= needed) isWhole = false;
    if (signal.aborted || runs.length >= needed) break;
    const { files, is_complete } = await searchFiles(tree.repository, tree.commit_id, query, signal);
    if (!is_complete) isComplete = false;
    for (const file of files) if (isShown(file.path)) runs.push(...runsOf(tree, file, context));
  }
  const page = pageOf(merged(begun.runs, runs), search, { isWhole, isComplete });
  return formed(FoundBlob, {
    ...page,
    items: await presentRuns(page.items, { context, matchIn: (line) => matchIn(query, line) }),
  });
}

const ownerOf = ({ tree: { owner } }: Run): number => ('project_id' in owner ? owner.project_id : 0);

/** Merges runs by project id. */
const merged = (some: readonly Run[], others: readonly Run[]): readonly Run[] =>
  some.length === 0 ? others : [...some, ...others].sort((one, other) => ownerOf(one) - ownerOf(other));

/** The commit for a search in one repository. @throws ApiError 404 */
async function commitAsked(repository: Repository, ref: string): Promise<string> {
  const id = await resolveCommit(repository, ref);
  if (id === undefined) throw notFound('Reference');
  return id;
}

/** The commit to search in a repository; undefined if it is empty. */
export async function commitOf(services: Services, place: CodePlace, { within, input }: Search) {
  const repository = repositoryOf(services, place);
  const ref = 'project' in within ? input.ref : undefined;
  const commit_id =
    ref === undefined ? await resolveBranch(repository, place.default_branch) : await commitAsked(repository, ref);
  return commit_id === undefined ? undefined : { repository, commit_id, ref: ref ?? place.default_branch };
}

export const blobScope: Scope = {
  ends_itself: true,
  levels: ['global', 'group', 'project'],
  forms: [FoundBlob],
  check(project) {
    if (!mayReadCode(project)) throw forbidden();
  },
  async find(services, search) {
    const query = await queryFor(search);
    const places = await codePlaces(services.db, search);
    const { num_context_lines: context, regex, ref } = search.input;
    const { code_search } = await settingsOf(services.db);
    if (code_search === 'off') throw badRequest('Code search is switched off');
    const isIndexed = code_search === 'on' && !('project' in search.within && ref !== undefined) && !regex;
    return inTurn(search, async (signal) => {
      const begun = isIndexed
        ? await searchIndex(services, query, places, { most: neededFor(search), context })
        : { ...nothingYet, others: places };
      const trees = async function* () {
        for (const place of begun.others) {
          const found = await commitOf(services, place, search);
          if (found) yield { ...found, owner: { project_id: place.id } };
        }
      };
      return findInTrees(trees, search, { query, signal, begun });
    });
  },
};

const isPage = (path: string): boolean => /\.(md|markdown|mkdn?|rdoc|adoc|asciidoc|org)$/i.test(path);

export const wikiScope: Scope = {
  ends_itself: true,
  levels: ['global', 'group', 'project'],
  forms: [FoundBlob],
  check(project) {
    if (!mayUse(project, 'wiki')) throw forbidden();
  },
  async find(services, search) {
    const query = await queryFor(search);
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
    return inTurn(search, (signal) => findInTrees(trees, search, { query, signal, isShown: isPage }));
  },
};
