/** Reads objects outside the repository: the objects of a push before it is accepted, or the objects of a fork. The pool of readers does not see them. */
import { join } from 'node:path';
import { git } from './command.ts';
import type { StoredObject } from './reader.ts';
import type { Environment, Repository } from './types.ts';

/** The environment in which git also sees the objects of `repository`. Both repositories must have the same object format. */
export const alsoSeeing = (repository: Repository): Environment => ({
  // Quoted, because a colon would start the next path.
  GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(repository.path, 'objects').replaceAll(/["\\]/g, '\\$&')}"`,
});

/** The complete objects with these ids, in this order. Throws `GitError` when one is missing. */
export async function objectsIn(
  repository: Repository,
  ids: readonly string[],
  env: Environment,
): Promise<StoredObject[]> {
  if (ids.length === 0) return [];
  const output = await git(repository, 'cat-file', ['--batch'], [], [], {
    input: `${ids.join('\n')}\n`,
    env,
    limit: 512 * 1024 * 1024,
  });
  const objects: StoredObject[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const header = readHeader(output.toString('utf8', at, end));
    const content = output.subarray(end + 1, end + 1 + header.size_bytes);
    objects.push({ ...header, content });
    at = end + 2 + header.size_bytes;
  }
  return objects;
}

function readHeader(line: string) {
  const [id = '', type = '', size = ''] = line.split(' ');
  if (!/^\d+$/.test(size)) throw new Error(`git has no such object: ${line}`);
  return { id, type: type as StoredObject['type'], size_bytes: Number(size) };
}
