/** Blame: the commit that last changed each line of a file. */
import { answersOf } from '../foundation/caches.ts';
import { git } from './command.ts';
import { readCommit } from './commits.ts';
import { entryAt, readBlob } from './files.ts';
import { fullId } from './ids.ts';
import type { BlameGroup, Option, Repository } from './types.ts';

/** The range starts after the end of the file. */
export class LineOutOfRange extends Error {
  override name = 'LineOutOfRange';
  readonly line_count: number;

  constructor(line_count: number) {
    super(`the file has only ${line_count} lines`);
    this.line_count = line_count;
  }
}

/** Consecutive lines of one commit. */
interface Span {
  commit_id: string;
  lines: string[];
}

interface Blamed {
  repository: Repository;
  commit: string;
  path: string;
  range: { start: number; end: number } | undefined;
}

const blames = answersOf<Blamed, Span[]>((file) => readBlame(file), {
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (spans, key) =>
    spans.reduce((size, { lines }) => lines.reduce((sum, line) => sum + 40 + line.length, size + 100), key.length),
});

/**
 * The lines of a file in a commit, in order, adjacent lines of the same commit together; `[]` for an empty file.
 * `range` counts lines from 1 and includes both ends; an end after the last line means the last line. Lines come without
 * their line feed but keep a carriage return; bytes that are not UTF-8 are replaced.
 * Throws `LineOutOfRange` when the range starts after the last line, `GitError` when there is no such file.
 */
export async function blame(
  repository: Repository,
  commit: string,
  path: string,
  range?: { start: number; end: number },
): Promise<BlameGroup[]> {
  const key = `${repository.path}\0${fullId(commit)}\0${range ? `${range.start},${range.end}` : ''}\0${path}`;
  const spans = (await blames.fetch(key, { context: { repository, commit, path, range } }))!;
  return Promise.all(
    spans.map(async ({ commit_id, lines }) => ({ commit: await readCommit(repository, commit_id), lines })),
  );
}

async function readBlame({ repository, commit, path, range }: Blamed): Promise<Span[]> {
  if (range) await checkRange(repository, commit, path, range.start);
  const limits: Option[] = range ? [`-L${range.start},${range.end}`] : [];
  return parseBlame(await git(repository, 'blame', ['--porcelain', ...limits], [commit], [path]));
}

/** git reports such a range only in a message, so the lines of the file are counted. */
async function checkRange(repository: Repository, commit: string, path: string, start: number): Promise<void> {
  const entry = await entryAt(repository, commit, path);
  if (entry?.type !== 'blob') return;
  const line_count = countLines(await readBlob(repository, entry.id));
  if (start > line_count) throw new LineOutOfRange(line_count);
}

/** The number of lines as git counts them: text after the last line feed is a line too. */
export function countLines(content: Buffer): number {
  let count = 0;
  for (let at = content.indexOf(0x0a); at >= 0; at = content.indexOf(0x0a, at + 1)) count++;
  return content.length > 0 && content.at(-1) !== 0x0a ? count + 1 : count;
}

/** Every line of the file is a header with the commit's id, perhaps details of the commit, and the line itself after a tab. */
function parseBlame(output: Buffer): Span[] {
  const spans: Span[] = [];
  let commit_id = '';
  for (let at = 0; at < output.length; ) {
    const found = output.indexOf(0x0a, at);
    const end = found < 0 ? output.length : found;
    if (output[at] === 0x09) {
      const line = output.toString('utf8', at + 1, end);
      const span = spans.at(-1);
      if (span?.commit_id === commit_id) span.lines.push(line);
      else spans.push({ commit_id, lines: [line] });
      commit_id = '';
    } else if (commit_id === '') commit_id = output.toString('latin1', at, output.indexOf(0x20, at));
    at = end + 1;
  }
  return spans;
}
