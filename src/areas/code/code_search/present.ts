/** How parts of files appear in the results of a search. */
import { type Static, Type } from 'typebox';
import type { Repository } from '../../../git/index.ts';
import { nullable, optional, resource } from '../../../http/index.ts';
import { type FoundFile, linesOf, textOf } from './file_git.ts';

export const FoundBlob = resource('FoundBlob', {
  basename: Type.String({ description: 'The path without its last extension' }),
  data: Type.String({ description: 'The lines that match, with those around them; 1,024 bytes of each at most' }),
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

/** The searched branch, tag or commit of a repository, and whose it is. */
export interface SearchedTree {
  repository: Repository;
  ref: string;
  owner: { project_id: number } | { group_id: number };
}

/** Neighbouring matches of a file, which are shown together. */
export interface Run {
  tree: SearchedTree;
  file: FoundFile;
  lines: readonly number[];
}

const maximumRuns = 50;
const shownLine_bytes = 1024;

/**
 * The matches of a file, those together whose surroundings touch.
 * @param context the number of lines that are shown before and after a match
 */
export function runsOf(tree: SearchedTree, file: FoundFile, context: number): Run[] {
  const runs: number[][] = [];
  for (const line of file.lines) {
    const last = runs.at(-1);
    if (last && line - last.at(-1)! <= 2 * context + 1) last.push(line);
    else runs.push([line]);
  }
  // A file that is found by its path shows its beginning.
  const shown = runs.length === 0 ? [[]] : runs.slice(0, maximumRuns);
  return shown.map((lines) => ({ tree, file, lines }));
}

const cut = (line: string): string => {
  const bytes = Buffer.from(line);
  return bytes.length <= shownLine_bytes ? line : bytes.toString('utf8', 0, shownLine_bytes);
};

/** Of larger files, which git finds texts in, no lines are shown: a page may have a hundred of them. */
const maximumShown_bytes = 4 * 1024 * 1024;

/** Runs with the text around them. Those of a file follow each other, and it is read once. */
export async function presentRuns(runs: readonly Run[], context: number): Promise<Static<typeof FoundBlob>[]> {
  const shown: Static<typeof FoundBlob>[] = [];
  let read: { file: FoundFile; lines: readonly string[] } | undefined;
  for (const run of runs) {
    if (read?.file !== run.file) {
      const text = await textOf(run.tree.repository, run.file.id, maximumShown_bytes);
      read = { file: run.file, lines: text ? linesOf(text) : [] };
    }
    shown.push(presentRun(run, read.lines, context));
  }
  return shown;
}

/** @param all the lines of the file */
function presentRun({ tree, file, lines }: Run, all: readonly string[], context: number): Static<typeof FoundBlob> {
  const first = Math.max(1, (lines[0] ?? 1) - context);
  const last = lines.length === 0 ? first + 2 * context : lines.at(-1)! + context;
  const data = all.slice(first - 1, last).map((line) => `${cut(line)}\n`);
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
