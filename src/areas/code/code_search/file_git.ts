/** Searching the files of a repository: their contents and their paths. */

import { type Expression, MatchingTimeout, matchEach } from '../../../expressions/index.ts';
import {
  type FoundLines,
  linesContaining,
  listTree,
  type Repository,
  readBlob,
  readCommit,
  type TreeListing,
} from '../../../git/index.ts';
import { type CodeQuery, isWanted, type SearchableFile } from './query_rules.ts';

/** A file that a search has found. */
export interface FoundFile extends SearchableFile {
  /** The numbers of the lines that match, from 1; none if only the path does. */
  lines: readonly number[];
}

export interface FoundFiles {
  /** By path. */
  files: FoundFile[];
  /** Whether there was time to search all. */
  is_complete: boolean;
}

/** Larger files are searched by nobody, and would take the memory of many. */
const maximumFile_bytes = 1024 * 1024;

function filesIn(listing: TreeListing): SearchableFile[] {
  return listing
    .entries(0, listing.length)
    .filter(({ type }) => type === 'blob')
    .map(({ path, id }) => ({ path, id }));
}

/**
 * Searches the files of a commit.
 * @param query with an expression in place of a text
 * @param signal ends the search
 * @throws InvalidExpression
 */
export async function searchFiles(
  repository: Repository,
  commit: string,
  query: CodeQuery & { expression?: Expression },
  signal: AbortSignal,
): Promise<FoundFiles> {
  const { tree_id } = await readCommit(repository, commit);
  const all = filesIn(await listTree(repository, tree_id, { is_recursive: true }));
  const wanted = query.filters.length === 0 ? all : all.filter((file) => isWanted(query, file));
  if (query.text === '') return { files: byPath(wanted.map((file) => ({ ...file, lines: [] }))), is_complete: true };
  const { files: matching, is_complete } = await (query.expression
    ? linesMatching(repository, wanted, query.expression, signal)
    : linesContaining(repository, commit, query.text, signal));
  const lines = new Map(matching.map((file) => [file.path, file.lines]));
  const text = query.text.toLowerCase();
  const isFound = ({ path }: SearchableFile) =>
    lines.has(path) || (!query.expression && path.toLowerCase().includes(text));
  const files = wanted.filter(isFound).map((file) => ({ ...file, lines: lines.get(file.path) ?? [] }));
  return { files: byPath(files), is_complete };
}

const byPath = (files: FoundFile[]): FoundFile[] =>
  files.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));

/** A file at a time is matched, within the time of the search. */
const budget_ms = 1_000;

/** The lines that an expression matches. Files are read one by one, because no index narrows them. */
async function linesMatching(
  repository: Repository,
  files: readonly SearchableFile[],
  expression: Expression,
  signal: AbortSignal,
): Promise<{ files: FoundLines[]; is_complete: boolean }> {
  const found: FoundLines[] = [];
  let is_complete = true;
  for (const { path, id } of files) {
    if (signal.aborted) return { files: found, is_complete: false };
    const text = await textOf(repository, id);
    if (text === undefined) continue;
    const matching = await matchingLines(text, expression);
    if (matching === undefined) is_complete = false;
    else if (matching.length > 0) found.push({ path, lines: matching });
  }
  return { files: found, is_complete };
}

/** Undefined if it takes too long. */
async function matchingLines(text: string, expression: Expression): Promise<number[] | undefined> {
  try {
    const [isMatched] = await matchEach({ ...expression, multiline: true }, [text], budget_ms);
    if (!isMatched) return [];
    const each = await matchEach(expression, linesOf(text), budget_ms);
    return each.flatMap((matched, index) => (matched ? [index + 1] : []));
  } catch (error) {
    if (error instanceof MatchingTimeout) return undefined;
    throw error;
  }
}

/** The lines of a text, without an empty one behind the last. */
export const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** The text of a file; undefined for one that is too large or binary, as git tells them apart. */
export async function textOf(repository: Repository, id: string): Promise<string | undefined> {
  const content = await readBlob(repository, id, maximumFile_bytes).catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  return content === undefined || content.subarray(0, 8_000).includes(0) ? undefined : content.toString('utf8');
}
