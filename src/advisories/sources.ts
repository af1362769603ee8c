/** Files of OSV records: a folder, a zip as osv.dev publishes one for each ecosystem, or a single record. */
import { readFileSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { InvalidRecord } from './records.ts';

/** The maximum size of a record; most have a few kB. */
const largest_bytes = 10 * 1024 * 1024;

/** A record before it is read. */
export interface RecordFile {
  /** Its path in the folder or zip. */
  name: string;
  /**
   * Its content.
   * @throws InvalidRecord
   */
  content(): Promise<string>;
}

/** The file is no folder, zip or record; the message is for people. */
export class UnreadableSource extends Error {
  override name = 'UnreadableSource';
}

function refuseLarge(size_bytes: number): void {
  if (size_bytes > largest_bytes) throw new InvalidRecord(`it is larger than ${largest_bytes / 1024 / 1024} MiB`);
}

const fileAt = (file: string, name: string): RecordFile => ({
  name,
  content: async () => {
    // A folder can contain hundreds of thousands of files, and passing each to another thread takes ten times as long as reading it synchronously. Only a command
    // reads them.
    refuseLarge(statSync(file).size);
    return readFileSync(file, 'utf8');
  },
});

async function* inFolder(folder: string): AsyncGenerator<RecordFile> {
  for await (const entry of await opendir(folder, { recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && entry.name.endsWith('.json')) yield fileAt(file, path.relative(folder, file));
  }
}

const openZip = (file: string): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    yauzl.open(file, { lazyEntries: true }, (error, zip) => (error ? reject(error) : resolve(zip)));
  });

const contentOf = (zip: ZipFile, entry: Entry): Promise<string> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : text(stream).then(resolve, reject)));
  });

/** The entries of a zip, one after another. */
async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  let next = Promise.withResolvers<Entry | undefined>();
  zip.on('entry', (entry: Entry) => next.resolve(entry));
  zip.on('end', () => next.resolve(undefined));
  zip.on('error', (error: Error) => next.reject(error));
  for (;;) {
    zip.readEntry();
    const entry = await next.promise;
    if (!entry) return;
    next = Promise.withResolvers();
    yield entry;
  }
}

async function* inZip(file: string): AsyncGenerator<RecordFile> {
  try {
    const zip = await openZip(file);
    for await (const entry of entriesOf(zip)) {
      if (!entry.fileName.endsWith('.json')) continue;
      const content = async () => {
        refuseLarge(entry.uncompressedSize);
        try {
          return await contentOf(zip, entry);
        } catch (error) {
          throw new InvalidRecord(`it cannot be unpacked: ${(error as Error).message}`);
        }
      };
      yield { name: entry.fileName, content };
    }
  } catch (error) {
    throw new UnreadableSource(`${file} is not a zip that can be read: ${(error as Error).message}.`);
  }
}

/**
 * The records in a folder and the folders below it, in a zip, or in one file.
 * @throws UnreadableSource for a broken zip; errors of the file system
 */
export async function* recordFiles(place: string): AsyncGenerator<RecordFile> {
  if ((await stat(place)).isDirectory()) yield* inFolder(place);
  else if (place.endsWith('.json')) yield fileAt(place, path.basename(place));
  else yield* inZip(place);
}
