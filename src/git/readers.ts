/** The pool of readers: none for an idle repository, one for one in use, up to four for a busy one. */

import { Semaphore } from '../foundation/semaphore.ts';
import { type ObjectHeader, Reader, ReaderDied, type StoredObject } from './reader.ts';
import type { Repository } from './types.ts';

const readers_per_repository = 4;
const readers_in_all = 24;
/** With this many pending requests, a second process pays off. */
const crowded = 16;
const idle_ms = 60_000;
const retries = new Semaphore(4);

interface ReaderPool {
  readers: Set<Reader>;
  idle: NodeJS.Timeout;
}

/** Least recently used first. */
const pools = new Map<string, ReaderPool>();

/** Header of the object with this name (an id, or a ref followed by a peel such as `^{commit}`), undefined when there is none. */
export const objectHeader = (repository: Repository, name: string): Promise<ObjectHeader | undefined> =>
  withReader(repository, (reader) => reader.ask(name, false));

/** The complete object with this name, undefined when there is none. */
export const storedObject = (repository: Repository, name: string): Promise<StoredObject | undefined> =>
  withReader(repository, (reader) => reader.ask(name, true));

/** Closes the readers of a repository, or all readers, once their pending requests are done. */
export async function closeReaders(repository?: Repository): Promise<void> {
  const closing = repository ? [pools.get(repository.path)] : [...pools.values()];
  await Promise.all(closing.flatMap((pool) => [...(pool?.readers ?? [])].map((reader) => reader.retire())));
}

async function withReader<T>(repository: Repository, ask: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await ask(readerFor(repository));
  } catch (error) {
    if (error instanceof ReaderDied) return again(repository, ask);
    throw error;
  }
}

/** Retries a request in a separate process: a damaged object makes git exit, which must not fail the requests behind it a second time. */
function again<T>(repository: Repository, ask: (reader: Reader) => Promise<T>): Promise<T> {
  return retries.run(async () => {
    const reader = new Reader(repository, () => {});
    try {
      return await ask(reader);
    } finally {
      await reader.retire();
    }
  });
}

function readerFor(repository: Repository): Reader {
  const pool = poolOf(repository);
  let freest: Reader | undefined;
  for (const reader of pool.readers) if (!freest || reader.load < freest.load) freest = reader;
  if (freest && (freest.load < crowded || pool.readers.size >= readers_per_repository)) return freest;
  makeRoom(repository);
  const reader: Reader = new Reader(repository, () => {
    pool.readers.delete(reader);
    if (pool.readers.size > 0 || pools.get(repository.path) !== pool) return;
    clearTimeout(pool.idle);
    pools.delete(repository.path);
  });
  pool.readers.add(reader);
  // The pool may be gone by now: it was evicted, or its last reader ended.
  pools.set(repository.path, pool);
  return reader;
}

function poolOf(repository: Repository): ReaderPool {
  const known = pools.get(repository.path);
  if (known) {
    known.idle.refresh();
    pools.delete(repository.path);
    pools.set(repository.path, known);
    return known;
  }
  const idle = setTimeout(() => void closeReaders(repository), idle_ms).unref();
  const pool = { readers: new Set<Reader>(), idle };
  pools.set(repository.path, pool);
  return pool;
}

/** Retires a reader of the least recently used repository. It still finishes its requests, so the limit may be exceeded for a moment. */
function makeRoom(repository: Repository): void {
  let count = 0;
  for (const pool of pools.values()) count += pool.readers.size;
  if (count < readers_in_all) return;
  for (const [path, pool] of pools) {
    const [reader] = pool.readers;
    if (!reader || path === repository.path) continue;
    void reader.retire();
    return;
  }
}
