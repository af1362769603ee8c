/** The colours of the lines of a diff. */
import { createHash } from 'node:crypto';
import { highlighted } from '../../../highlighting/index.ts';
import type { DiffLine, Hunk } from './hunk_rules.ts';

/** A line as HTML with its words in colours, if it has any. */
export type Colours = (line: DiffLine) => string | undefined;

export const noColours: Colours = () => undefined;

/** A file with a longer line is not hand-written. */
const longestLine_chars = 2_000;

/** The lines of one side in colours. They are read as one text, so that a comment that began above the first of them is not known. */
async function sideOf(lines: readonly DiffLine[], file_name: string, owner: number): Promise<readonly string[]> {
  const text = lines.map((line) => line.text).join('\n');
  const blob_id = createHash('sha1').update(text).digest('hex');
  return (await highlighted({ text, file_name }, { blob_id, owner })) ?? [];
}

/**
 * @param path of the file, whose extension names the language
 * @param owner whose turn it is
 */
export async function coloursOf(hunks: readonly Hunk[], path: string, owner: number): Promise<Colours> {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (lines.some(({ text }) => text.length > longestLine_chars)) return noColours;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const after = lines.filter(({ kind }) => kind !== 'removed');
  const before = lines.some(({ kind }) => kind === 'removed') ? lines.filter(({ kind }) => kind !== 'added') : [];
  const [now, then] = await Promise.all([sideOf(after, name, owner), sideOf(before, name, owner)]);
  const known = new Map<DiffLine, string>();
  for (const [index, line] of before.entries()) if (then[index] !== undefined) known.set(line, then[index]);
  for (const [index, line] of after.entries()) if (now[index] !== undefined) known.set(line, now[index]);
  return (line) => known.get(line);
}
