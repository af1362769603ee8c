/** The file modes in the trees of a push. git normalises modes when it prints trees, so the trees are read as stored. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { gitStream } from './command.ts';
import type { Environment, Repository } from './types.ts';

/** The modes that git writes, and 100664, which its first versions wrote and old histories contain. */
const allowed = new Set([0o100644, 0o100664, 0o100755, 0o120000, 0o40000, 0o160000]);

const [newline, nul, space, zero] = [0x0a, 0x00, 0x20, 0x30];

/**
 * Reads every tree of a push, with two git processes and constant memory for any push.
 * @param quarantine of the push
 * @returns the first tree with a file mode that git does not support, undefined when there is none
 */
export async function oddFileMode(
  repository: Repository,
  quarantine: Environment,
): Promise<{ tree: string; mode: string } | undefined> {
  // A push without objects has no quarantine.
  if (quarantine.GIT_OBJECT_DIRECTORY === undefined) return undefined;
  // Only the objects of the quarantine: it is complete except for objects of the repository, which are not read.
  const env = { ...quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: '' };
  const objects = gitStream(
    repository,
    'cat-file',
    ['--batch-check=%(objecttype) %(objectname)', '--batch-all-objects', '--unordered', '--buffer'],
    [],
    [],
    { reader: 'server', env },
  );
  const trees = gitStream(repository, 'cat-file', ['--batch', '--buffer'], [], [], {
    reader: 'server',
    env,
    source: Readable.from(idsOfTrees(objects)),
  });
  try {
    return await firstOdd(trees);
  } finally {
    trees.destroy();
    objects.destroy();
  }
}

async function* idsOfTrees(objects: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: objects, crlfDelay: Number.POSITIVE_INFINITY }))
    if (line.startsWith('tree ')) yield `${line.slice('tree '.length)}\n`;
}

/** @param trees a stream of `<id> tree <size>`, a line feed, the entries, and a line feed for each tree */
async function firstOdd(trees: Readable): Promise<{ tree: string; mode: string } | undefined> {
  let header = '';
  let tree = '';
  let mode = 0;
  /** Remaining bytes of the current tree, including the line feed after it; 0 in a header. */
  let left = 0;
  /** Remaining bytes of the id of the current entry. */
  let idLeft = 0;
  let isInName = false;
  for await (const chunk of trees as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length; ) {
      const from = at;
      if (left === 0) {
        const end = chunk.indexOf(newline, at);
        header += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
        at = end < 0 ? chunk.length : end + 1;
        if (end < 0) continue;
        const [id = '', , size] = header.split(' ');
        [header, tree, left, mode] = ['', id, Number(size) + 1, 0];
        continue;
      }
      if (idLeft > 0) {
        at = Math.min(at + idLeft, chunk.length);
        idLeft -= at - from;
      } else if (isInName) {
        const end = chunk.indexOf(nul, at);
        at = end < 0 ? chunk.length : end + 1;
        isInName = end < 0;
        // A binary id has half as many bytes as its hexadecimal form.
        if (!isInName) [mode, idLeft] = [0, tree.length / 2];
      } else if (chunk[at] === space) {
        if (!allowed.has(mode)) return { tree, mode: mode.toString(8) };
        isInName = true;
        at += 1;
      } else {
        mode = mode * 8 + chunk[at]! - zero;
        at += 1;
      }
      left -= at - from;
    }
  return undefined;
}
