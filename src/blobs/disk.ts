/** Blobs in a folder. Libraries such as flydrive write directly to the final name and do not wait for the disk, so a crash could leave half a file there. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { type BlobKey, BlobMismatch, type Blobs, type Bounded, type ByteRange, type Expected } from './types.ts';

/** On the same file system as the blobs, so that a finished upload is renamed into place. No kind of blob has this name. */
const receptionFolder = '.incoming';
const chunk_bytes = 256 * 1024;

/**
 * Blobs below a folder, which is created with the first blob.
 * @param folder absolute path
 */
export function diskBlobs(folder: string): Blobs {
  const incoming = path.join(folder, receptionFolder);
  return {
    receive: async (source, expected) => {
      source.on('error', () => {}); // The stream may fail before it is read; its reader gets the error then.
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      const file = path.join(incoming, randomUUID());
      return {
        ...(await writeVerified(file, source, expected)),
        keep: (key) => moveDurably(file, pathOf(folder, key)),
        discard: () => rm(file, { force: true }),
      };
    },
    read: (key, range) => readFrom(pathOf(folder, key), range),
    remove: (key) => rm(pathOf(folder, key), { force: true }),
    sweep: (older_than_ms) => sweep(incoming, older_than_ms),
  };
}

const keyPattern = /^([a-z][a-z0-9_]*)\/(([a-z0-9]{2})([a-z0-9]{2})[a-z0-9_-]*)$/;

function pathOf(folder: string, key: BlobKey): string {
  const [, kind, name, first, second] = keyPattern.exec(key) ?? [];
  if (!kind || !name || !first || !second) throw new TypeError(`${key} is not a blob key`);
  return path.join(folder, kind, first, second, name);
}

async function writeVerified(name: string, source: Readable, expected: Expected | Bounded): Promise<Expected> {
  const file = await open(name, 'wx', 0o600);
  try {
    const received = await copyVerified(source, file, expected);
    await file.sync();
    return received;
  } catch (error) {
    await rm(name, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** @returns what has been received */
async function copyVerified(source: Readable, file: FileHandle, expected: Expected | Bounded): Promise<Expected> {
  const hash = createHash('sha256');
  const most_bytes = 'sha256' in expected ? expected.size_bytes : expected.at_most_bytes;
  let received_bytes = 0;
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received_bytes += chunk.length;
    if (received_bytes > most_bytes) throw new BlobMismatch('size');
    hash.update(chunk);
    await file.appendFile(chunk);
  }
  const sha256 = hash.digest('hex');
  if ('sha256' in expected) {
    if (received_bytes < expected.size_bytes) throw new BlobMismatch('size');
    if (sha256 !== expected.sha256) throw new BlobMismatch('digest');
  }
  return { size_bytes: received_bytes, sha256 };
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

async function syncFolder(name: string): Promise<void> {
  const folder = await open(name, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
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

async function sweep(incoming: string, older_than_ms: number): Promise<number> {
  const names = await readdir(incoming).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  let removed = 0;
  for (const name of names) {
    const file = path.join(incoming, name);
    const found = await stat(file).catch(() => undefined); // stored meanwhile
    if (found === undefined || found.mtimeMs > Date.now() - older_than_ms) continue;
    await rm(file, { force: true });
    removed++;
  }
  return removed;
}

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
