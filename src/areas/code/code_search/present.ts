/** Formats search results in files. */
import { type Static, Type } from 'typebox';
import type { Repository } from '../../../git/index.ts';
import { nullable, optional, resource } from '../../../http/index.ts';
import { type FoundFile, linesOf, textOf } from './file_git.ts';

export const FoundBlob = resource('FoundBlob', {
  basename: Type.String({ description: 'The path without its last extension' }),
  data: Type.String({
    description: 'The lines that match, with those around them; 1,024 bytes of each at most, around the match',
  }),
  path: Type.String(),
  filename: Type.String({ description: 'The path' }),
  id: nullable(Type.String()),
  ref: Type.String({ description: 'The branch, tag or commit that was searched' }),
  startline: Type.Integer({ description: 'The number of the first line in `data`' }),
  project_id: optional(Type.Integer({ description: 'Missing for the wiki of a group' })),
  group_id: optional(Type.Integer({ description: 'For the wiki of a group' })),
  blob_id: Type.String(),
  match_lines: Type.Array(Type.Integer(), { description: 'The numbers of the lines that match' }),
});

/** The searched branch, tag or commit, with its repository and project. */
export interface SearchedTree {
  repository: Repository;
  ref: string;
  owner: { project_id: number } | { group_id: number };
}

/** Neighbouring matches in a file, which are shown together. */
export interface Run {
  tree: SearchedTree;
  file: FoundFile;
  lines: readonly number[];
}

const maximumRuns = 50;
const shownLine_bytes = 1024;

/**
 * Groups the matches of a file; matches whose context lines touch form one group.
 * @param context the number of lines shown before and after a match
 */
export function runsOf(tree: SearchedTree, file: FoundFile, context: number): Run[] {
  const runs: number[][] = [];
  for (const line of file.lines) {
    const last = runs.at(-1);
    if (last && line - last.at(-1)! <= 2 * context + 1) last.push(line);
    else runs.push([line]);
  }
  // A file found by its path shows its beginning.
  const shown = runs.length === 0 ? [[]] : runs.slice(0, maximumRuns);
  return shown.map((lines) => ({ tree, file, lines }));
}

/** Bytes kept before the match in a truncated line. */
const beforeMatch_bytes = 256;

/** Returns the offset of the first match in a line; 0 if it does not match. */
export type MatchIn = (line: string) => number | Promise<number>;

/** A line, or the part around its first match: a long line would fill the reply. */
async function cut(line: string, matchIn: MatchIn): Promise<string> {
  const bytes = Buffer.from(line);
  if (bytes.length <= shownLine_bytes) return line;
  const match = Buffer.byteLength(line.slice(0, await matchIn(line)));
  let start = match < shownLine_bytes / 2 ? 0 : Math.min(match - beforeMatch_bytes, bytes.length - shownLine_bytes);
  // Moves to the start of a character.
  while ((bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.toString('utf8', start, start + shownLine_bytes);
}

/** Larger files, which git can search, show no lines: a page may list a hundred of them. */
const maximumShown_bytes = 4 * 1024 * 1024;

/** Runs with their context. Runs of the same file are adjacent, and the file is read once. */
export async function presentRuns(
  runs: readonly Run[],
  { context, matchIn }: { context: number; matchIn: MatchIn },
): Promise<Static<typeof FoundBlob>[]> {
  const shown: Static<typeof FoundBlob>[] = [];
  let read: { file: FoundFile; lines: readonly string[] } | undefined;
  for (const run of runs) {
    if (read?.file !== run.file) {
      const text = await textOf(run.tree.repository, run.file.id, maximumShown_bytes);
      read = { file: run.file, lines: text ? linesOf(text) : [] };
    }
    shown.push(await presentRun(run, read.lines, { context, matchIn }));
  }
  return shown;
}

/** @param all the lines of the file */
async function presentRun(
  { tree, file, lines }: Run,
  all: readonly string[],
  { context, matchIn }: { context: number; matchIn: MatchIn },
): Promise<Static<typeof FoundBlob>> {
  const first = Math.max(1, (lines[0] ?? 1) - context);
  const last = lines.length === 0 ? first + 2 * context : lines.at(-1)! + context;
  const data = await Promise.all(all.slice(first - 1, last).map(async (line) => `${await cut(line, matchIn)}\n`));
  return {
    basename: file.path.replace(/(?<=[^/])\.[^./]*$/, ''),
    data: data.join(''),
    path: file.path,
    filename: file.path,
    id: null,
    ref: tree.ref,
    startline: first,
    ...tree.owner,
    blob_id: file.id,
    match_lines: [...lines],
  };
}
