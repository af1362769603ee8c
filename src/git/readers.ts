/** The pool of readers: none for a repository nobody asks about, one for one that is asked, up to four for a busy one. */
import { type ObjectHeader, Reader, ReaderDied, type StoredObject } from './reader.ts';
import { Slots } from './semaphore.ts';
import type { Repository } from './types.ts';

const readers_per_repository = 4;
const readers_in_all = 24;
/** A reader with this many questions waiting is worth a second process. */
const crowded = 16;
const idle_ms = 60_000;
const second_chances = new Slots(4);

interface Place {
  readers: Set<Reader>;
  idle: NodeJS.Timeout;
}

/** Least recently used first. */
const places = new Map<string, Place>();

/** Header of the object with this name (an id, or a ref followed by a peel such as `^{commit}`), undefined when there is none. */
export const objectHeader = (repository: Repository, name: string): Promise<ObjectHeader | undefined> =>
  withReader(repository, (reader) => reader.ask(name, false));

/** The object with this name, whole in memory, undefined when there is none. */
export const storedObject = (repository: Repository, name: string): Promise<StoredObject | undefined> =>
  withReader(repository, (reader) => reader.ask(name, true));

/** Closes the readers of a repository, or all of them, after they have answered what they were asked. */
export async function closeReaders(repository?: Repository): Promise<void> {
  const closing = repository ? [places.get(repository.path)] : [...places.values()];
  await Promise.all(closing.flatMap((place) => [...(place?.readers ?? [])].map((reader) => reader.retire())));
}

async function withReader<T>(repository: Repository, ask: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await ask(readerFor(repository));
  } catch (error) {
    if (error instanceof ReaderDied) return again(repository, ask);
    throw error;
  }
}

/** Asks once more, of a process of its own: a damaged object ends git, and must not take the questions behind it along a second time. */
function again<T>(repository: Repository, ask: (reader: Reader) => Promise<T>): Promise<T> {
  return second_chances.run(async () => {
    const reader = new Reader(repository, () => {});
    try {
      return await ask(reader);
    } finally {
      await reader.retire();
    }
  });
}

function readerFor(repository: Repository): Reader {
  const place = placeOf(repository);
  let freest: Reader | undefined;
  for (const reader of place.readers) if (!freest || reader.load < freest.load) freest = reader;
  if (freest && (freest.load < crowded || place.readers.size >= readers_per_repository)) return freest;
  makeRoom(repository);
  const reader: Reader = new Reader(repository, () => {
    place.readers.delete(reader);
    if (place.readers.size > 0 || places.get(repository.path) !== place) return;
    clearTimeout(place.idle);
    places.delete(repository.path);
  });
  place.readers.add(reader);
  // Making room, or the end of the last reader, may have removed the place in between.
  places.set(repository.path, place);
  return reader;
}

function placeOf(repository: Repository): Place {
  const known = places.get(repository.path);
  if (known) {
    known.idle.refresh();
    places.delete(repository.path);
    places.set(repository.path, known);
    return known;
  }
  const idle = setTimeout(() => void closeReaders(repository), idle_ms).unref();
  const place = { readers: new Set<Reader>(), idle };
  places.set(repository.path, place);
  return place;
}

/** Retires a reader of the repository that was asked longest ago. It still answers its questions, so the cap may be passed for a moment. */
function makeRoom(repository: Repository): void {
  let count = 0;
  for (const place of places.values()) count += place.readers.size;
  if (count < readers_in_all) return;
  for (const [path, place] of places) {
    const [reader] = place.readers;
    if (!reader || path === repository.path) continue;
    void reader.retire();
    return;
  }
}
