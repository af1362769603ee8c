/** Searching the files of a repository: their contents and their paths. */
import { type Expression, MatchingTimeout, matchEach } from '../../../expressions/index.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import {
  blobSize,
  type FoundLines,
  linesContaining,
  listTree,
  type Repository,
  readBlob,
  readCommit,
  streamBlob,
  type TreeListing,
} from '../../../git/index.ts';
import { type CodeQuery, folded, isWanted, type SearchableFile } from './query_rules.ts';

/** A file found by a search. */
export interface FoundFile extends SearchableFile {
  /** The numbers of the lines that match, from 1; none if only the path does. */
  lines: readonly number[];
}

export interface FoundFiles {
  /** By path. */
  files: FoundFile[];
  /** Whether the search covered all files in time. */
  is_complete: boolean;
}

/** Larger texts are not indexed, and not matched with expressions: they would need the memory of many. */
const maximumFile_bytes = 1024 * 1024;

/** Per repository; a page needs fewer. */
const maximumFiles = 20_000;
/** A few milliseconds of work. */
const entriesInTurn = 2_000;

/** The files of a tree that match the filters, ordered by path. Other requests are served while a large tree is walked. */
async function filesIn(
  listing: TreeListing,
  isFound: (file: SearchableFile) => boolean,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<{ files: SearchableFile[]; is_complete: boolean }> {
  const files: SearchableFile[] = [];
  for (let start = 0; start < listing.length; start += entriesInTurn) {
    for (const { type, path, id } of listing.entries(start, start + entriesInTurn)) {
      if (type !== 'blob' || !isFound({ path, id })) continue;
      if (files.length === most) return { files, is_complete: false };
      files.push({ path, id });
    }
    await nextTurn();
    if (signal.aborted) return { files, is_complete: false };
  }
  return { files, is_complete: true };
}

/**
 * Searches the files of a commit.
 * @param query the text is replaced by the expression, if there is one
 * @param signal aborts the search
 * @throws InvalidExpression
 */
export async function searchFiles(
  repository: Repository,
  commit: string,
  query: CodeQuery & { expression?: Expression },
  signal: AbortSignal,
): Promise<FoundFiles> {
  const { tree_id } = await readCommit(repository, commit);
  const listing = await listTree(repository, tree_id, { is_recursive: true });
  const { files: matching, is_complete } = await matchingIn({ repository, commit, listing }, query, signal);
  const lines = new Map(matching.map((file) => [file.path, file.lines]));
  const text = folded(query.text);
  const hasInPath = ({ path }: SearchableFile) => !query.expression && folded(path).includes(text);
  const isFound = (file: SearchableFile) => (lines.has(file.path) || hasInPath(file)) && isWanted(query, file);
  const found = await filesIn(listing, isFound, { most: maximumFiles, signal });
  return {
    files: found.files.map((file) => ({ ...file, lines: lines.get(file.path) ?? [] })),
    is_complete: is_complete && found.is_complete,
  };
}

/** The lines that a query finds. */
async function matchingIn(
  { repository, commit, listing }: { repository: Repository; commit: string; listing: TreeListing },
  query: CodeQuery & { expression?: Expression },
  signal: AbortSignal,
): Promise<{ files: FoundLines[]; is_complete: boolean }> {
  if (query.expression) return linesMatching(repository, listing, query.expression, signal);
  return query.text === '' ? { files: [], is_complete: true } : linesContaining(repository, commit, query.text, signal);
}

/** One file is matched at a time, within the time limit of the search. */
const budget_ms = 1_000;
/** The time limit of a search does not allow reading more files. */
const maximumRead = 100_000;

/** The lines that an expression matches. Files are read one by one, because no index narrows them. */
async function linesMatching(
  repository: Repository,
  listing: TreeListing,
  expression: Expression,
  signal: AbortSignal,
): Promise<{ files: FoundLines[]; is_complete: boolean }> {
  const found: FoundLines[] = [];
  const all = await filesIn(listing, () => true, { most: maximumRead, signal });
  let { is_complete } = all;
  for (const { path, id } of all.files) {
    if (signal.aborted) return { files: found, is_complete: false };
    const text = await textOf(repository, id);
    if (text === undefined) {
      if (await isLargeText(repository, id)) is_complete = false;
      continue;
    }
    const matching = await matchingLines(text, expression);
    if (matching === undefined) is_complete = false;
    else if (matching.length > 0) found.push({ path, lines: matching });
  }
  return { files: found, is_complete };
}

/** Long lines are searched in overlapping windows of this many characters, each starting in the middle of the previous one. */
const window_chars = 512;

/**
 * The offset at which a query matches in a line. In a long line, it is as exact as showing the part around the match requires.
 * @returns 0 if the line does not match
 */
export async function matchIn(
  { text, expression }: CodeQuery & { expression?: Expression },
  line: string,
): Promise<number> {
  if (!expression) return Math.max(0, folded(line).indexOf(folded(text)));
  const starts = Array.from(
    { length: Math.ceil((line.length * 2) / window_chars) },
    (_, index) => (index * window_chars) / 2,
  );
  const windows = starts.map((start) => line.slice(start, start + window_chars));
  try {
    return starts[(await matchEach(expression, windows, budget_ms)).indexOf(true)] ?? 0;
  } catch (error) {
    if (error instanceof MatchingTimeout) return 0;
    throw error;
  }
}

/** Undefined on a timeout. */
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

/** The lines of a text, without the empty one after a final newline. */
export const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** Whether a file is binary, by git's rule. */
const isBinary = (content: Buffer): boolean => content.subarray(0, 8_000).includes(0);

/** Whether `textOf` omits a text file because it is too large. */
export async function isLargeText(repository: Repository, id: string): Promise<boolean> {
  if ((await blobSize(repository, id)) <= maximumFile_bytes) return false;
  // Leaving the loop stops git.
  for await (const start of streamBlob(repository, id, { reader: 'server' }) as AsyncIterable<Buffer>)
    return !isBinary(start);
  return false;
}

/** The text of a file; undefined if the file is too large or binary by git's rule. */
export async function textOf(
  repository: Repository,
  id: string,
  most_bytes = maximumFile_bytes,
): Promise<string | undefined> {
  const content = await readBlob(repository, id, most_bytes).catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  return content === undefined || isBinary(content) ? undefined : content.toString('utf8');
}
