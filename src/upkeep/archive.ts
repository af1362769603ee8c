/** The file of a backup: a tar archive with Zstandard compression and a checksum. */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { extract, pack } from 'tar-stream';

export interface ArchiveWriter {
  add(name: string, content: string | Buffer): Promise<void>;
  /** @param size_bytes exactly as many as `content` will give */
  addStream(name: string, size_bytes: number, content: Readable): Promise<void>;
  /** Completes the file and gives it its final name. */
  finish(): Promise<void>;
  /** Deletes what was written. */
  abandon(): Promise<void>;
}

export interface ArchiveEntry {
  name: string;
  size_bytes: number;
  content: AsyncIterable<Buffer>;
}

const lastEntry = 'end.json';
/** The magic number of Zstandard. */
const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The archive is truncated or damaged. */
export class ArchiveError extends Error {}

/**
 * Creates an archive under a temporary name.
 * @param file must not exist when it is finished, or is replaced
 * @param signal makes the next addition fail
 */
export function createArchive(file: string, signal?: AbortSignal): ArchiveWriter {
  const draft = `${file}.new-${process.pid}`;
  const tar = pack();
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const written = pipeline(
    tar as unknown as NodeJS.ReadableStream,
    compress,
    createWriteStream(draft, { mode: 0o600 }),
  );
  let failure: unknown;
  written.catch((error) => {
    failure = error;
  });
  let entries = 0;

  /** A file that cannot be written ends the streams before it: their errors say less than its own. */
  const reportCause = async (error: unknown) => {
    if (tar.destroyed) await written.catch(() => {});
    throw failure ?? error;
  };
  const addStream = async (name: string, size: number, content: Readable) => {
    signal?.throwIfAborted();
    if (failure !== undefined) throw failure;
    entries++;
    const added = new Promise<void>((resolve, reject) => {
      const sink = tar.entry({ name, size }, (error) => (error ? reject(error) : resolve()));
      pipeline(content, sink as unknown as NodeJS.WritableStream).catch(reject);
    });
    await Promise.race([added, written]).catch(reportCause);
  };
  const add = (name: string, content: string | Buffer) => {
    const bytes = Buffer.from(content);
    return addStream(name, bytes.length, Readable.from(bytes.length > 0 ? [bytes] : []));
  };
  const finish = async () => {
    await add(lastEntry, JSON.stringify({ entries }));
    tar.finalize();
    await written;
    await syncToDisk(draft);
    await rename(draft, file);
    await syncToDisk(path.dirname(file));
  };
  const abandon = async () => {
    tar.destroy();
    await written.catch(() => {});
    await rm(draft, { force: true });
  };
  return { add, addStream, finish, abandon };
}

/** Waits until a file, or the names in a folder, are on the disk. */
export async function syncToDisk(place: string): Promise<void> {
  await using handle = await open(place, 'r');
  await handle.sync();
}

/**
 * Reads an archive from the beginning. The content of each entry must be read before the next entry.
 * Zstandard's checksum covers the content. A changed byte that decodes to the same content is therefore not noticed, nor one of the empty frame of 13 bytes,
 * checksum included, that zlib appends: neither carries anything.
 * @throws ArchiveError when it is damaged or not complete
 */
export async function* readArchive(file: string): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  const read = pipeline(createReadStream(file), createZstdDecompress(), tar as unknown as NodeJS.WritableStream);
  read.catch(() => {}); // the same error ends the loop below
  let entries = 0;
  let isComplete = false;
  try {
    for await (const entry of tar) {
      const content = whole(file, entry as unknown as AsyncIterable<Buffer>);
      const { name, size: size_bytes = 0 } = entry.header;
      if (name === lastEntry) isComplete = JSON.parse(await textOf(content)).entries === entries;
      else yield { name, size_bytes, content };
      entries++;
    }
    await read;
  } catch (error) {
    throw named(file, error);
  } finally {
    tar.destroy();
  }
  if (!isComplete) throw new ArchiveError(`${file} is not complete.`);
}

/** The content of an entry, whose reader meets damage before the archive's does. */
async function* whole(file: string, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw named(file, error);
  }
}

const named = (file: string, error: unknown): unknown =>
  isDamage(error) ? new ArchiveError(`${file} is damaged or truncated.`, { cause: error }) : error;

/** How decompressing, tar and JSON fail on content that was changed or cut. */
function isDamage(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof SyntaxError || code.startsWith('ZSTD') || code.startsWith('Z_')) return true;
  return (
    code === 'ERR_STREAM_PREMATURE_CLOSE' ||
    /^(Unexpected end of data|Invalid tar header|unexpected end of file)/i.test(message)
  );
}

/** Whether a file begins as our archives do, so that it may be a damaged one. */
export async function isCompressed(file: string): Promise<boolean> {
  await using handle = await open(file, 'r');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
  return bytesRead === magic.length && buffer.equals(magic);
}

/**
 * The content of a small entry that is JSON.
 * @param name of the entry
 * @throws ArchiveError when it is damaged; the checksum at the end of the archive would report that too late
 */
export async function jsonOf<T>(content: AsyncIterable<Buffer>, name: string): Promise<T> {
  const text = await textOf(content);
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new ArchiveError(`The backup is damaged in ${name}.`, { cause: error });
  }
}

/** The content of a small entry. */
export async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
