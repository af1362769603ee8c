/**
 * Reads refs in process, by git's own rules (gitrepository-layout, git-pack-refs): a file of its own shadows the line in `packed-refs`. Files are read before
 * `packed-refs`, so that a ref that is packed meanwhile is found there.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { cacheOf } from '../foundation/caches.ts';
import { nextTurn } from '../foundation/loop_turns.ts';
import { GitError } from './command.ts';
import { isValidRefName } from './ref_names.ts';
import type { Repository } from './types.ts';

export interface StoredRef {
  /** The full name; bytes that are not UTF-8 are replaced. */
  ref: string;
  id: string;
}

/** Names are bytes as latin1 here, one UTF-16 unit each, so comparing text compares bytes as git does. */
interface RawRef {
  name: string;
  id: string;
}

/** The content of a ref file: an id, the name of another ref, or invalid content. */
type Content = { id: string } | { target: string } | undefined;

/** The time slice, after which other requests are served. */
const slice_ms = 4;
/** The maximum length of a ref file's content. */
const maximumContent = 4096;
/** As in git. */
const deepest_link = 5;
/** The number of times a listing is repeated because a folder has become a file, or a file a folder. */
const maximumTries = 5;
/** A younger file or folder might change again without a new modification time. */
const settled_ms = 100;
const ref_bytes = 250;

interface PackedRefs {
  identity: string;
  /** Sorted by name. */
  refs: readonly RawRef[];
}

const packed_refs = new LRUCache<string, PackedRefs>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ refs }) => 1 + refs.length * ref_bytes,
});

interface Folder {
  identity: string;
  refs: readonly [name: string, content: Content][];
  /** The names of subfolders, each with a trailing slash. */
  folders: readonly string[];
}

/** Listings by path. git replaces the file of a ref by renaming, which changes the modification time of the folder. */
const ref_folders = new LRUCache<string, Folder>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ refs, folders }) => 1 + (refs.length + folders.length) * ref_bytes,
});

interface Listing {
  /** The folders and the lines of `packed-refs` that the listing was built from. */
  sources: readonly unknown[];
  refs: readonly StoredRef[];
}

/** Running merges by path. Sixteen concurrent requests would otherwise merge the same thousand names sixteen times, with no other request served in between. */
const listings = new LRUCache<string, Listing>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: ({ refs }) => 1 + refs.length * ref_bytes,
});

/** Every ref whose full name begins with `prefix`, a folder such as `refs/heads/`, sorted by name. Throws `GitError` for a repository with another ref storage. */
export async function refsBelow(repository: Repository, prefix: string): Promise<readonly StoredRef[]> {
  const folders = await looseRefs(repository, prefix);
  const packed = await packedRefs(repository);
  const sources = [packed, ...folders];
  const key = `${repository.path}\0${prefix}`;
  const known = listings.get(key);
  // Cached folders and the cached `packed-refs` are replaced when they change.
  if (
    known &&
    known.sources.length === sources.length &&
    known.sources.every((source, index) => source === sources[index])
  )
    return known.refs;
  const below = packed.slice(lowerBound(packed, prefix), lowerBound(packed, `${prefix.slice(0, -1)}0`));
  const loose = folders.flatMap(({ refs }) => refs);
  const refs = merge(below, await resolveLinks(repository, loose)).map(({ name, id }) => ({ ref: textOf(name), id }));
  // The target of a symbolic link may be outside the repository.
  if (loose.every(([, content]) => !content || 'id' in content)) listings.set(key, { sources, refs });
  return refs;
}

/** The id of a ref, undefined when it has none. A symbolic ref is followed. */
export async function readRef(repository: Repository, ref: string): Promise<string | undefined> {
  return follow(repository, Buffer.from(ref).toString('latin1'), 0);
}

/** The id of a ref in `packed-refs`. It counts only while the ref has no file. */
export async function packedRef(repository: Repository, ref: string): Promise<string | undefined> {
  return packedNamed(await packedRefs(repository), Buffer.from(ref).toString('latin1'));
}

/**
 * The id in the file of a ref.
 * @returns `missing` when `packed-refs` decides, undefined when the ref is symbolic or broken
 */
export function looseRef(repository: Repository, ref: string): string | 'missing' | undefined {
  const content = readLoose(repository, Buffer.from(ref).toString('latin1'));
  return content === undefined || content === 'missing' ? content : 'id' in content ? content.id : undefined;
}

/** Whether a ref has a file with invalid content. */
export const isBroken = (repository: Repository, ref: string): boolean =>
  readLoose(repository, Buffer.from(ref).toString('latin1')) === undefined;

/** Whether `packed-refs` contains a ref that conflicts with this one: one name would be a folder of the other. */
export async function isBesidePacked(repository: Repository, ref: string): Promise<boolean> {
  const refs = await packedRefs(repository);
  const name = Buffer.from(ref).toString('latin1');
  if (refs[lowerBound(refs, `${name}/`)]?.name.startsWith(`${name}/`)) return true;
  const parts = name.split('/');
  return parts.some((_, index) => index > 0 && packedNamed(refs, parts.slice(0, index).join('/')) !== undefined);
}

const textOf = (name: string): string => (isAscii(name) ? name : Buffer.from(name, 'latin1').toString('utf8'));

async function follow(repository: Repository, name: string, depth: number): Promise<string | undefined> {
  const content = readLoose(repository, name);
  if (content === 'missing') return packedNamed(await packedRefs(repository), name);
  if (!content || 'id' in content) return content?.id;
  return depth < deepest_link ? follow(repository, content.target, depth + 1) : undefined;
}

/** Symbolic refs get the id of their target; those without one count as none, and still shadow a line in `packed-refs`. */
async function resolveLinks(
  repository: Repository,
  loose: Iterable<readonly [name: string, content: Content]>,
): Promise<Map<string, string | undefined>> {
  const ids = new Map<string, string | undefined>();
  for (const [name, content] of loose)
    ids.set(name, !content || 'id' in content ? content?.id : await follow(repository, content.target, 1));
  return ids;
}

function merge(packed: readonly RawRef[], loose: ReadonlyMap<string, string | undefined>): readonly RawRef[] {
  if (loose.size === 0) return packed;
  const own = Array.from(loose, ([name, id]) => ({ name, id })).sort((one, other) => (one.name < other.name ? -1 : 1));
  const merged: RawRef[] = [];
  let at = 0;
  for (const { name, id } of own) {
    while (at < packed.length && packed[at]!.name < name) merged.push(packed[at++]!);
    if (packed[at]?.name === name) at++;
    if (id !== undefined) merged.push({ name, id });
  }
  while (at < packed.length) merged.push(packed[at++]!);
  return merged;
}

/** The first position whose name is not less than `name`. */
function lowerBound(refs: readonly RawRef[], name: string): number {
  let [low, high] = [0, refs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (refs[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function packedNamed(refs: readonly RawRef[], name: string): string | undefined {
  const found = refs[lowerBound(refs, name)];
  return found?.name === name ? found.id : undefined;
}

/** A listing found a folder in place of a file, or the other way round. */
class Changed extends Error {}

async function looseRefs(repository: Repository, prefix: string): Promise<Folder[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await readFolders(repository, prefix);
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
      if (tries === maximumTries)
        throw new GitError('for-each-ref', null, `the refs of ${repository.path} change all the time`);
    }
  }
}

async function readFolders(repository: Repository, prefix: string): Promise<Folder[]> {
  const found: Folder[] = [];
  const folders = [prefix];
  for (let name = folders.pop(); name !== undefined; name = folders.pop()) {
    const folder = await folderOf(repository, name);
    found.push(folder);
    folders.push(...folder.folders);
  }
  return found;
}

async function folderOf(repository: Repository, name: string): Promise<Folder> {
  const key = `${repository.path}\0${name}`;
  const asked_ms = Date.now();
  const before = await stat(pathOf(repository, name), { bigint: true }).catch(() => undefined);
  const identity = before ? identityOf(before) : '';
  const known = ref_folders.get(key);
  if (known && known.identity === identity) return known;
  const folder = { identity, ...(await readFolder(repository, name)) };
  if (before && asked_ms - Number(before.ctimeMs) > settled_ms && (await isStill(repository, name, identity)))
    ref_folders.set(key, folder);
  return folder;
}

const isStill = (repository: Repository, name: string, identity: string): Promise<boolean> =>
  stat(pathOf(repository, name), { bigint: true }).then(
    (now) => identityOf(now) === identity,
    () => false,
  );

async function readFolder(repository: Repository, folder: string): Promise<Omit<Folder, 'identity'>> {
  const refs: [string, Content][] = [];
  const folders: string[] = [];
  let began = performance.now();
  for (const entry of await entriesOf(repository, folder)) {
    const name = folder + entry.name;
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) continue;
    if (entry.isDirectory()) folders.push(`${name}/`);
    else if (isValidRefName(name)) {
      const content = readLoose(repository, name);
      if (content !== 'missing') refs.push([name, content]);
    }
    if (performance.now() - began > slice_ms) {
      await nextTurn();
      began = performance.now();
    }
  }
  return { refs, folders };
}

async function entriesOf(repository: Repository, folder: string) {
  try {
    return await readdir(pathOf(repository, folder), { withFileTypes: true, encoding: 'latin1' as BufferEncoding });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENAMETOOLONG') return [];
    if (code === 'ENOENT') {
      // Without its folder of refs it is no repository; any folder below comes and goes.
      if (folder !== 'refs/' && (await isFolder(join(repository.path, 'refs')))) return [];
      throw new GitError('for-each-ref', 128, `not a git repository: ${repository.path}`);
    }
    if (code !== 'ENOTDIR') throw error;
    refuseOtherStorage(repository);
    throw new Changed();
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** A repository with a reftable has a file in the place of this folder, so that programs without support for it stop there. */
function refuseOtherStorage(repository: Repository): void {
  const content = readStart(repository, 'refs/heads');
  if (typeof content === 'string')
    throw new GitError('for-each-ref', null, `${repository.path} keeps its refs in a reftable, not in files`);
}

const isAscii = (name: string): boolean => !/[\x80-\xff]/.test(name);

const pathOf = ({ path }: Repository, name: string): string | Buffer =>
  isAscii(name) ? `${path}/${name}` : Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name, 'latin1')]);

interface LooseRef {
  identity: Identity;
  content: Content | 'missing';
}

/** Ref files by path. git replaces the file of a ref by renaming, and never changes one in place. */
const loose_refs = cacheOf<string, LooseRef>(10_000);

/** `missing` means that `packed-refs` decides. A folder without refs may be in the place of a ref. */
function readLoose(repository: Repository, name: string): Content | 'missing' {
  const key = `${repository.path}/${name}`;
  const asked_ms = Date.now();
  const now = statOf(pathOf(repository, name));
  if (!now) return 'missing';
  const known = loose_refs.get(key);
  if (known && isSame(known.identity, now)) return known.content;
  const content = contentOf(repository, name);
  const { dev, ino, size, mtimeMs, ctimeMs } = now;
  if (asked_ms - ctimeMs > settled_ms) loose_refs.set(key, { identity: { dev, ino, size, mtimeMs, ctimeMs }, content });
  return content;
}

function contentOf(repository: Repository, name: string): Content | 'missing' {
  const content = readStart(repository, name);
  if (content === undefined) return 'missing';
  const target = /^ref:\s*(\S.*?)\s*$/s.exec(content)?.[1];
  if (target !== undefined) return isValidRefName(target) ? { target } : undefined;
  const id = /^([0-9a-f]{64}|[0-9a-f]{40})(?:\s|$)/i.exec(content)?.[1]?.toLowerCase();
  return id === undefined || /^0+$/.test(id) ? undefined : { id };
}

const buffer = Buffer.allocUnsafe(maximumContent);

type Identity = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

const isSame = (one: Identity, other: Identity): boolean =>
  one.ctimeMs === other.ctimeMs &&
  one.ino === other.ino &&
  one.mtimeMs === other.mtimeMs &&
  one.size === other.size &&
  one.dev === other.dev;

/** Whether a file of that name is impossible: a part of the path is a file, or the name is too long. */
const isImpossible = (error: unknown): boolean =>
  ['ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Synchronous: with its turns of the event loop, an asynchronous stat takes ten times as long. */
function statOf(path: string | Buffer): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isImpossible(error)) return undefined;
    throw error;
  }
}

/** Synchronous, as in `statOf`. */
function readStart(repository: Repository, name: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(pathOf(repository, name), 'r');
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, maximumContent, 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR' || isImpossible(error)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const nothingPacked: readonly RawRef[] = [];

async function packedRefs(repository: Repository): Promise<readonly RawRef[]> {
  const path = join(repository.path, 'packed-refs');
  // Synchronous, as in `readStart`.
  const now = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!now) return nothingPacked;
  const known = packed_refs.get(repository.path);
  if (known?.identity === identityOf(now)) return known.refs;
  try {
    await using file = await open(path);
    const found = await file.stat({ bigint: true });
    const refs = await parsePacked(repository, await file.readFile());
    if (Date.now() - Number(found.ctimeMs) > settled_ms)
      packed_refs.set(repository.path, { identity: identityOf(found), refs });
    return refs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothingPacked;
    throw error;
  }
}

/** git replaces the file by renaming, and never changes it in place. */
const identityOf = ({
  dev,
  ino,
  size,
  mtimeNs,
  ctimeNs,
}: { [key in 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs']: bigint }) => [dev, ino, size, mtimeNs, ctimeNs].join(' ');

/** `<id> <name>` for each ref, after a header; a line that begins with `^` is what the tag before it points to. */
async function parsePacked(repository: Repository, content: Buffer): Promise<readonly RawRef[]> {
  const refs: RawRef[] = [];
  let isSorted = true;
  let began = performance.now();
  for (let at = 0, end = 0; at < content.length; at = end + 1) {
    end = content.indexOf(0x0a, at);
    if (end < 0) end = content.length;
    const first = content[at];
    if (first === 0x23 || first === 0x5e) continue;
    const line = content.toString('latin1', at, end);
    const space = line.indexOf(' ');
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64}) ./.test(line))
      throw new GitError(
        'for-each-ref',
        null,
        `unexpected line in the packed-refs of ${repository.path}: ${line.slice(0, 200)}`,
      );
    const name = line.slice(space + 1);
    if (!isValidRefName(name)) continue;
    isSorted &&= refs.length === 0 || refs.at(-1)!.name < name;
    refs.push({ name, id: line.slice(0, space) });
    if (refs.length % 256 === 0 && performance.now() - began > slice_ms) {
      await nextTurn();
      began = performance.now();
    }
  }
  return isSorted ? refs : refs.sort((one, other) => (one.name < other.name ? -1 : 1));
}
