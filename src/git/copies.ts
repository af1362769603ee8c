/** The parts of a copy of a repository: its refs, the branch that HEAD points to, and its object files. */
import { createHash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { nextTurn } from '../foundation/loop_turns.ts';
import { GitError } from './command.ts';
import { refsBelow } from './ref_store.ts';
import type { Repository } from './types.ts';

/** Every ref with its object id, including refs that are hidden from clients. */
export async function allRefs(repository: Repository): Promise<Map<string, string>> {
  return new Map((await refsBelow(repository, 'refs/')).map(({ ref, id }) => [ref, id]));
}

/**
 * The name of the branch that HEAD points to, whether it exists or not; undefined when HEAD is detached. It is read from the file, because git reads none when
 * that branch is damaged.
 * @throws GitError when HEAD is damaged
 */
export async function headBranch(repository: Repository): Promise<string | undefined> {
  const head = (await readFile(join(repository.path, 'HEAD'), 'utf8')).trim();
  const branch = /^ref:\s*refs\/heads\/(.+)$/.exec(head)?.[1];
  if (branch === undefined && !/^[0-9a-f]{40,64}$/.test(head))
    throw new GitError('symbolic-ref', null, 'HEAD is damaged');
  return branch;
}

/**
 * A checksum over all refs and HEAD, in hexadecimal digits: the XOR of the SHA-1 of every line `<object id> <ref name>` and of `ref: <target> HEAD`, so that it does not
 * depend on the order. Zeros for a repository without refs.
 */
export async function refsChecksum(repository: Repository): Promise<string> {
  const [refs, head] = [await allRefs(repository), await headBranch(repository)];
  const sum = Buffer.alloc(20);
  if (refs.size === 0) return sum.toString('hex');
  let at = 0;
  for (const line of [`ref: refs/heads/${head} HEAD`, ...Array.from(refs, ([ref, id]) => `${id} ${ref}`)]) {
    const digest = createHash('sha1').update(line).digest();
    for (let byte = 0; byte < sum.length; byte++) sum[byte]! ^= digest[byte]!;
    if (++at % refsAtOnce === 0) await nextTurn();
  }
  return sum.toString('hex');
}

/** The number of refs that take about two milliseconds; other requests are served after each batch. */
const refsAtOnce = 1000;

/** The names below `objects/` that are copied: these files never change once they exist. */
export const objectFilePattern = /^(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx|rev))$/;

/**
 * The object files, as names below `objects/`. Loose objects come first, because maintenance moves them into packs: a copy
 * in this order that misses one finds it in a pack of a second listing.
 */
export async function objectFiles(repository: Repository): Promise<string[]> {
  const objects = join(repository.path, 'objects');
  const folders = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const loose: string[] = [];
  for (const folder of folders) {
    const names = await readdir(join(objects, folder)).catch(unlessGone);
    loose.push(...names.map((name) => `${folder}/${name}`));
  }
  const packs = await readdir(join(objects, 'pack')).catch(unlessGone);
  // git writes the index of a pack last, so a pack without one is incomplete.
  const indexed = packs.filter((name) => packs.includes(name.replace(/\.[^.]+$/, '.idx')));
  return [...loose, ...indexed.map((name) => `pack/${name}`)].filter((name) => objectFilePattern.test(name));
}

function unlessGone(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** Maintenance may replace files while they are copied; a retry is much faster than a maintenance run. */
const looks = 20;

export interface ObjectFile {
  /** Below `objects/`. */
  name: string;
  size_bytes: number;
  content: Readable;
}

/** @returns false when maintenance has replaced the file with another one */
async function copyFile(
  repository: Repository,
  name: string,
  add: (file: ObjectFile) => Promise<void>,
): Promise<boolean> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(join(repository.path, 'objects', name), 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const { size } = await handle.stat();
  await add({ name, size_bytes: size, content: handle.createReadStream() });
  return true;
}

/**
 * Copies the object files of a repository that is in use.
 * @param add copies a file
 * @throws Error when the files change faster than they can be copied
 */
export async function copyObjectFiles(repository: Repository, add: (file: ObjectFile) => Promise<void>): Promise<void> {
  const copied = new Set<string>();
  for (let look = 0; look < looks; look++) {
    const missing = (await objectFiles(repository)).filter((file) => !copied.has(file));
    let isComplete = true;
    for (const file of missing) {
      if (await copyFile(repository, file, add)) copied.add(file);
      else isComplete = false;
    }
    if (isComplete) return;
  }
  throw new Error(`${repository.path} changes faster than it can be copied.`);
}

/** The content of the file `packed-refs`, in pieces. */
export async function* packedRefs(refs: ReadonlyMap<string, string>): AsyncGenerator<string> {
  // By their bytes, as git compares them; in `latin1` each is one character.
  const names: string[] = [];
  for (const name of refs.keys()) {
    names.push(Buffer.from(name).toString('latin1'));
    if (names.length % refsAtOnce === 0) await nextTurn();
  }
  names.sort();
  yield '# pack-refs with: sorted \n';
  for (let at = 0; at < names.length; at += refsAtOnce) {
    const some = names.slice(at, at + refsAtOnce).map((name) => Buffer.from(name, 'latin1').toString());
    yield some.map((name) => `${refs.get(name)} ${name}\n`).join('');
    await nextTurn();
  }
}

/** Adds refs to a repository that has none, without checking that their objects exist. */
export async function plantRefs(repository: Repository, refs: ReadonlyMap<string, string>): Promise<void> {
  if (refs.size === 0) return;
  await using handle = await open(join(repository.path, 'packed-refs'), 'w');
  for await (const lines of packedRefs(refs)) await handle.write(lines);
  await handle.sync();
}
