/** Blobs in a folder. Libraries such as flydrive write directly to the final name without an fsync, so a crash could leave half a file there. */
import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { syncFolder } from '../foundation/durable_names.ts';
import { asidePath, keyAtPath, pathOfBlob } from './keys.ts';
import type { BlobKey, Blobs, Bounded, ByteRange, Expected, StoredBlob } from './types.ts';
import { copyVerified } from './verification.ts';

/** On the same file system as the blobs, so that a finished upload is renamed into place. No kind of blob has this name. */
const receptionFolder = '.incoming';
const chunk_bytes = 256 * 1024;

/**
 * Blobs below a folder, which is created with the first blob.
 * @param folder absolute path
 */
export function diskBlobs(folder: string): Blobs {
  const incoming = path.join(folder, receptionFolder);
  const placeOf = (key: BlobKey) => path.join(folder, pathOfBlob(key));
  return {
    address: folder,
    receive: async (key, source, expected) => {
      source.on('error', () => {}); // The stream may fail before it is read; its reader gets the error then.
      const place = placeOf(key);
      const { name, ...received } = await writeVerified(incoming, source, expected);
      return {
        key,
        ...received,
        keep: () => moveDurably(name, place),
        discard: () => rm(name, { force: true }),
      };
    },
    read: (key, range) => readFrom(placeOf(key), range),
    stat: (key) => statOf(key, placeOf(key)),
    keys: (kind) => keysBelow(folder, kind),
    placeOf,
    setAside: async (key) => {
      const aside = path.join(folder, asidePath(key));
      await mkdir(path.dirname(aside), { recursive: true, mode: 0o700 });
      await rename(placeOf(key), aside);
      return aside;
    },
    remove: (key) => rm(placeOf(key), { force: true }),
    sweep: (older_than_ms) => sweep(incoming, older_than_ms),
  };
}

/** @returns the name of the file, and its size and digest */
async function writeVerified(
  incoming: string,
  source: Readable,
  expected: Expected | Bounded,
): Promise<Expected & { name: string }> {
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const name = path.join(incoming, randomUUID());
  const file = await open(name, 'wx', 0o600);
  try {
    const received = await copyVerified(source, expected, (chunk) => file.appendFile(chunk));
    await file.sync();
    return { name, ...received };
  } catch (error) {
    await rm(name, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function moveDurably(from: string, to: string): Promise<void> {
  const folder = path.dirname(to);
  const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(from, to);
  // A name is durable only if its folder is synced, and a new folder only if its parent is.
  for (let each = folder; ; each = path.dirname(each)) {
    await syncFolder(each);
    if (firstMade === undefined || each.length < firstMade.length) return;
  }
}

async function readFrom(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
  try {
    const file = await open(name, 'r');
    return file.createReadStream({ ...range, highWaterMark: chunk_bytes });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function statOf(key: BlobKey, name: string): Promise<StoredBlob | undefined> {
  try {
    const { size, mtimeMs } = await stat(name);
    return { key, size_bytes: size, changed_at_ms: mtimeMs };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function* keysBelow(folder: string, below = ''): AsyncGenerator<BlobKey> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error)) return [] as Dirent[];
    throw error;
  });
  for (const entry of entries) {
    const name = path.posix.join(below, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* keysBelow(folder, name);
    const key = entry.isFile() ? keyAtPath(name) : undefined;
    if (key !== undefined) yield key;
  }
}

async function sweep(incoming: string, older_than_ms: number): Promise<number> {
  const names = await readdir(incoming).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  let removed = 0;
  for (const name of names) {
    const file = path.join(incoming, name);
    const found = await stat(file).catch(() => undefined); // stored concurrently
    if (found === undefined || found.mtimeMs > Date.now() - older_than_ms) continue;
    await rm(file, { force: true });
    removed++;
  }
  return removed;
}

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
