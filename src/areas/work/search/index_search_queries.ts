/** Searches the code of many projects: projects with a current index in the index, the others with git. */
import { type Database, isOutOfTime, limitedTo } from '../../../db/index.ts';
import { repositoryOf } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import {
  type CodeQuery,
  findIndexed,
  type IndexedFile,
  indexedAmong,
  linesOf,
  type Run,
  runsOf,
} from '../../code/code_search/index.ts';
import type { CodePlace } from './tree_queries.ts';

/** The results from the index, and the projects that it does not cover. */
export interface IndexedRuns {
  runs: Run[];
  others: CodePlace[];
  is_whole: boolean;
  is_complete: boolean;
}

/** Later pages are marked as incomplete. */
const mostFiles = 1_000;

/** The time limit of a search, minus time to finish it. */
const statement_ms = 4_000;

/** The server is a secondary, which has no index. */
const isWithoutIndex = (error: unknown): boolean => (error as { code?: string }).code === '55000';

/**
 * The first matches in the index, by project and path.
 * @param most the number of matches needed
 */
export async function searchIndex(
  services: Services,
  query: CodeQuery,
  places: readonly CodePlace[],
  { most, context }: { most: number; context: number },
): Promise<IndexedRuns> {
  const found = await readIndex(services.db, query, places, most);
  if (found === 'none') return { runs: [], others: [...places], is_whole: true, is_complete: true };
  const { current, is_partial, result } = found;
  const others = places.filter(({ id }) => !current.has(id));
  if (!result) return { runs: [], others, is_whole: false, is_complete: false };
  const byId = new Map(places.map((place) => [place.id, place]));
  const runs = result.files.flatMap((file) => {
    const { default_branch: ref, ...place } = byId.get(file.project_id)!;
    const tree = { repository: repositoryOf(services, place), ref, owner: { project_id: place.id } };
    return runsOf(tree, { ...file, lines: linesIn(file, query.text) }, context);
  });
  return {
    runs,
    others,
    is_whole: result.is_whole,
    is_complete: !is_partial && result.is_complete && (result.is_whole || most <= mostFiles),
  };
}

/** The numbers of the lines that contain a text, ignoring case. */
function linesIn({ content }: IndexedFile, text: string): number[] {
  if (content === null || text === '') return [];
  const wanted = text.toLowerCase();
  return linesOf(content).flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index + 1] : []));
}

async function readIndex(db: Database, query: CodeQuery, places: readonly CodePlace[], most: number) {
  const ids = places.map(({ id }) => id);
  let asked: { current: ReadonlySet<number>; is_partial: boolean } | undefined;
  try {
    return await limitedTo(db, statement_ms, async (tx) => {
      const { current, partial } = await indexedAmong(tx, ids);
      // In a single project, git also searches large texts; in many projects, this would take too long.
      const isSearchedByGit = ids.length === 1 && partial.size === 1;
      asked = { current: isSearchedByGit ? new Set() : current, is_partial: partial.size > 0 && !isSearchedByGit };
      return { ...asked, result: await findIndexed(tx, query, [...asked.current], Math.min(most, mostFiles)) };
    });
  } catch (error) {
    if (!isOutOfTime(error) && !isWithoutIndex(error)) throw error;
    return asked ? { ...asked, result: undefined } : ('none' as const);
  }
}
