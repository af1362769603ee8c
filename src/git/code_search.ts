/** Text search in the files of a commit. */
import { GitError, gitStream } from './command.ts';
import { fullId } from './ids.ts';
import { recordsIn } from './records.ts';
import type { Option, Repository } from './types.ts';

/** The matching lines of a file, by their numbers from 1. */
export interface FoundLines {
  path: string;
  lines: number[];
}

/** A page of results needs fewer; the rest of a search is dropped. */
const maximumLines = 20_000;
const line_feed = 0x0a;

/** Case is ignored in all alphabets. */
const env = { LC_ALL: 'C.UTF-8' };

/**
 * The lines of text files that contain a text, whatever its case, file by file.
 * @param signal ends the search, which then returns the results so far
 * @returns also whether the whole commit was searched
 */
export async function linesContaining(
  repository: Repository,
  commit: string,
  text: string,
  signal: AbortSignal,
): Promise<{ files: FoundLines[]; is_complete: boolean }> {
  if (signal.aborted) return { files: [], is_complete: false };
  // git would take each line of the text for a pattern of its own.
  if (text.includes('\n')) return { files: [], is_complete: true };
  const id = fullId(commit);
  const options = ['-n', '-I', '-i', '-F', '-z', '--full-name', `-e${text}`] as const;
  const output = gitStream(repository, 'grep', options, [id], [], { reader: 'server', signal, env });
  const files = new Map<string, number[]>();
  let count = 0;
  try {
    for await (const records of recordsIn(output, line_feed))
      for (const record of records) {
        const [named = '', number = ''] = record.split('\0', 2);
        const path = named.slice(id.length + 1);
        const lines = files.get(path);
        if (lines) lines.push(Number(number));
        else files.set(path, [Number(number)]);
        if (++count === maximumLines) return { files: found(files), is_complete: false };
      }
  } catch (error) {
    if (signal.aborted) return { files: found(files), is_complete: false };
    // No match.
    if (!(error instanceof GitError) || error.exit_code !== 1) throw error;
  } finally {
    output.destroy();
  }
  return { files: found(files), is_complete: true };
}

const found = (files: ReadonlyMap<string, number[]>): FoundLines[] =>
  [...files].map(([path, lines]) => ({ path, lines }));

/** A commit that matches a search. */
export interface FoundCommit {
  id: string;
  /** In seconds since 1970. */
  committed_s: number;
}

function commitIn(record: string): FoundCommit {
  const [seconds, id = ''] = record.split(' ', 2);
  return { id, committed_s: Number(seconds) };
}

/**
 * The commits in the history of a commit whose message contains all of some texts, whatever their case, newest first; of a text of several lines, each of them.
 * @param signal ends the search, which then returns the results so far
 * @returns at most `limit` commits, and whether the history was searched as far as these need
 */
export async function commitsSaying(
  repository: Repository,
  commit: string,
  { texts, limit, signal }: { texts: readonly string[]; limit: number; signal: AbortSignal },
): Promise<{ commits: FoundCommit[]; is_complete: boolean }> {
  if (signal.aborted) return { commits: [], is_complete: false };
  const options: Option[] = [
    '-i',
    '-F',
    '--all-match',
    '--timestamp',
    `--max-count=${limit}`,
    ...texts.flatMap((text) => text.split('\n')).map((line) => `--grep=${line}` as const),
  ];
  const output = gitStream(repository, 'rev-list', options, [fullId(commit)], [], { reader: 'server', signal, env });
  const commits: FoundCommit[] = [];
  try {
    for await (const records of recordsIn(output, line_feed)) commits.push(...records.map(commitIn));
  } catch (error) {
    if (!signal.aborted) throw error;
    return { commits, is_complete: false };
  }
  return { commits, is_complete: true };
}
