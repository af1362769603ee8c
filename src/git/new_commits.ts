/** The content of new commits: their authors and messages, the files that they add, and their large blobs. Each is one streaming walk for any number of commits. */
import { Readable } from 'node:stream';
import { git, gitStream } from './command.ts';
import { parseObject, parsePerson } from './commits.ts';
import { fullId, isFullId } from './ids.ts';
import { objectsWritten, recordsIn, type WrittenObject } from './records.ts';
import type { CommitRange, NewBlob, NewFile, Option, PushedCommit, Repository } from './types.ts';

const [nul, line_feed] = [0x00, 0x0a];

/** Longer messages are cut. */
const maximumMessage_bytes = 1024 * 1024;
/** The limit for parents and signatures; longer headers have no honest use. */
const maximumHeaders_bytes = 256 * 1024;

/** A running `git rev-list` on a range. Operands come by its input, because a push may move more refs than a command line holds. */
function walk(
  repository: Repository,
  { tips, excluded, env, signal }: CommitRange,
  options: readonly Option[] = [],
): Readable {
  const ends = [...tips.map(fullId), ...(excluded ?? []).map((id) => `^${fullId(id)}`)];
  // Excludes the refs of merge requests: commits of a fork are new to the branch that they are merged into, and to a push that brings them.
  const others: readonly Option[] = excluded ? [] : ['--not', '--branches', '--tags'];
  const source = Readable.from([`${ends.join('\n')}\n`]);
  return gitStream(repository, 'rev-list', ['--stdin', ...options, ...others], [], [], {
    ...asRun({ env, signal }),
    source,
  });
}

const asRun = ({ env, signal }: Pick<CommitRange, 'env' | 'signal'>) => ({
  reader: 'server' as const,
  ...(env ? { env } : {}),
  ...(signal ? { signal } : {}),
});

/** The output of a command whose input is the walk of a range. */
async function* fed<T>(
  repository: Repository,
  range: CommitRange,
  { walking, command, options }: { walking?: readonly Option[]; command: string; options: readonly Option[] },
  read: (stream: Readable) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (range.tips.length === 0) return;
  const source = walk(repository, range, walking);
  const stream = gitStream(repository, command, options, [], [], { ...asRun(range), source });
  try {
    yield* read(stream);
  } finally {
    stream.destroy();
    source.destroy();
  }
}

/** The commits of a range in batches, newest first. */
export async function* commitsIn(repository: Repository, range: CommitRange): AsyncGenerator<PushedCommit[]> {
  const reading = { command: 'cat-file', options: ['--batch', '--buffer'] as const };
  const objects = fed(repository, range, reading, (stream) =>
    objectsWritten(stream, maximumHeaders_bytes + maximumMessage_bytes),
  );
  for await (const batch of objects) yield batch.map(pushedCommit);
}

function pushedCommit({ id, content, size_bytes }: WrittenObject): PushedCommit {
  const { headers, message } = parseObject(content);
  const author = parsePerson(headers.get('author')?.[0]);
  const committer = parsePerson(headers.get('committer')?.[0]);
  return {
    id,
    message: message.slice(0, maximumMessage_bytes),
    is_cut: content.length < size_bytes || message.length > maximumMessage_bytes,
    author_name: author.name,
    author_email: author.email,
    committer_email: committer.email,
    is_signed: headers.has('gpgsig') || headers.has('gpgsig-sha256'),
  };
}

/** The files that each commit of a range adds, compared with all of its parents, in batches. A renamed file counts as added. */
export async function* filesAddedIn(repository: Repository, range: CommitRange): AsyncGenerator<NewFile[]> {
  const options = ['--stdin', '-r', '-c', '--root', '--no-renames', '--diff-filter=A', '--name-status', '-z'] as const;
  const batches = fed(repository, range, { command: 'diff-tree', options }, (stream) => recordsIn(stream, nul));
  let commit_id = '';
  /** Whether the next record is a path. */
  let isPath = false;
  for await (const batch of batches) {
    const files: NewFile[] = [];
    for (const record of batch) {
      if (isPath) files.push({ commit_id, path: record });
      else if (isFullId(record)) commit_id = record;
      // The letter of each parent comes before the path.
      isPath = !isPath && !isFullId(record);
    }
    if (files.length > 0) yield files;
  }
}

/** The blobs of a range that are larger than a limit, in batches, each with one of its paths. */
export async function* blobsLargerThan(
  repository: Repository,
  range: CommitRange,
  limit_bytes: number,
): AsyncGenerator<NewBlob[]> {
  const walking = ['--objects', '--filter=object:type=blob', '--filter-provided-objects'] as const;
  const options = ['--batch-check=%(objecttype) %(objectsize) %(rest)', '--buffer'] as const;
  const batches = fed(repository, range, { walking, command: 'cat-file', options }, (stream) =>
    recordsIn(stream, line_feed),
  );
  for await (const batch of batches) {
    const large = batch.flatMap((line) => {
      const [, size = '', path = ''] = /^blob (\d+) ?(.*)$/s.exec(line) ?? [];
      return Number(size) > limit_bytes ? { path, size_bytes: Number(size) } : [];
    });
    if (large.length > 0) yield large;
  }
}

/**
 * The newest commits reachable from a commit, as a range.
 * @param count at most some ten thousand
 */
export async function newestRange(repository: Repository, tip: string, count: number): Promise<CommitRange> {
  const output = await git(repository, 'rev-list', [`--max-count=${count}`, '--parents'], [fullId(tip)]);
  const commits = output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
  const inside = new Set(commits.map(([id]) => id));
  const excluded = new Set(commits.flatMap(([, ...parents]) => parents.filter((parent) => !inside.has(parent))));
  return { tips: [tip], excluded: [...excluded] };
}
