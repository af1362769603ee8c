/**
 * Writes objects as git does, one file each, without a process: a commit of one file three folders deep takes 3.4 ms with all
 * its fsyncs, where fast-import, with its second process that unpacks, takes 12.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import { nextTurn } from '../foundation/loop_turns.ts';
import { Semaphore } from '../foundation/semaphore.ts';
import type { ObjectFormat, Repository } from './types.ts';

/** With numbers of files: the `FileHandle` of `node:fs/promises` takes the event loop twice as long. */
const [open, write, fsync, close] = [
  promisify(fs.open),
  promisify(fs.writeFile),
  promisify(fs.fsync),
  promisify(fs.close),
];
const [rename, utimes] = [promisify(fs.rename), promisify(fs.utimes)];
const deflateElsewhere = promisify(deflate);
/** Compressing this many bytes takes a tenth of a millisecond, less than passing the work to a thread. */
const small_bytes = 16 * 1024;
/** Hashing this many bytes takes about a millisecond; other requests run in between. */
const slice_bytes = 2 * 1024 * 1024;
/** The number of times that a folder may disappear under a temporary file before that is an error. */
const maximumTries = 5;
/** A commit may change thousands of folders, each of which is an open file while it is written. */
const semaphore = new Semaphore(16);

/**
 * The objects of one commit. Their ids are known at once, so that all of them are written concurrently: one after another,
 * from the blobs up to the commit, takes three times as long.
 */
export class ObjectWriter {
  readonly #repository: Repository;
  readonly #format: ObjectFormat;
  readonly #writes: Promise<void>[] = [];

  constructor(repository: Repository, format: ObjectFormat) {
    this.#repository = repository;
    this.#format = format;
  }

  /** Starts storing an object and returns its id. */
  async add(type: 'blob' | 'tree' | 'commit' | 'tag', content: Buffer): Promise<string> {
    const header = Buffer.from(`${type} ${content.length}\0`);
    const id = await hashOf(this.#format, header, content);
    const path = join(this.#repository.path, 'objects', id.slice(0, 2), id.slice(2));
    const write = semaphore.run(() => store(path, header, content));
    write.catch(() => {}); // `finish` reports it, if the commit gets that far
    this.#writes.push(write);
    return id;
  }

  /** Resolves when every object is on disk and would survive a power failure. Throws the first error. */
  async finish(): Promise<void> {
    await Promise.all(this.#writes);
  }
}

/** An existing object keeps its bytes: its id is the hash of its content. */
async function store(path: string, header: Buffer, content: Buffer): Promise<void> {
  if (await freshen(path)) return;
  await writeFileOnce(path, await compress(Buffer.concat([header, content])));
}

/** By default, zlib takes 256 KB for each object, and V8 counts them: it would collect all garbage after some hundred. So the window is no larger than the object. */
function compress(bytes: Buffer): Promise<Buffer> | Buffer {
  const windowBits = Math.min(15, Math.max(9, 32 - Math.clz32(bytes.length)));
  const options = { level: 1, windowBits, memLevel: windowBits - 7 };
  return bytes.length <= small_bytes ? deflateSync(bytes, options) : deflateElsewhere(bytes, options);
}

async function hashOf(format: ObjectFormat, header: Buffer, content: Buffer): Promise<string> {
  const hash = createHash(format).update(header);
  for (let at = 0; at < content.length; at += slice_bytes) {
    if (at > 0) await nextTurn();
    hash.update(content.subarray(at, at + slice_bytes));
  }
  return hash.digest('hex');
}

/** Whether the file exists. It gets a new date, so that a prune does not delete it before a commit uses it. */
async function freshen(path: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** If the server dies meanwhile, `git prune` recognizes the file by this name and deletes it. */
async function writeFileOnce(path: string, bytes: Buffer): Promise<void> {
  const draft = join(dirname(path), `tmp_obj_${randomUUID()}`);
  try {
    await writeDraft(draft, bytes);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeDraft(draft: string, bytes: Buffer): Promise<void> {
  const file = await openDraft(draft);
  try {
    await write(file, bytes);
    await fsync(file);
  } finally {
    await close(file);
  }
}

/** A repack deletes folders that it has emptied, perhaps just after this one was created. */
async function openDraft(draft: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await open(draft, 'wx', 0o444);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === maximumTries) throw error;
      await mkdir(dirname(draft), { recursive: true });
    }
  }
}
