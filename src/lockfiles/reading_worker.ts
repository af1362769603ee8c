/** The thread that `reading.ts` starts. It reads one file after another. */
import { parentPort } from 'node:worker_threads';
import { type Contents, type Entry, Unreadable } from './entries.ts';
import { readDocument, readListing } from './files.ts';
import { declaredIn } from './package_licenses.ts';
import { waysTo } from './paths.ts';
import type { FromReader, Portion, ReadFile, ToReader, ToReadListing } from './reading.ts';

/** The number of packages that are sent at once, so that neither thread is busy with them for long. */
const maximumAtOnce = 10_000;

/** Texts as PostgreSQL writes an array of them. */
const arrayOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;

function portionOf(entries: readonly Entry[]): Portion {
  const column = (memberOf: (entry: Entry) => string | boolean | null) => JSON.stringify(entries.map(memberOf));
  return {
    name: column(({ name }) => name),
    version: column(({ version }) => version),
    manager: column(({ manager }) => manager),
    ecosystem: column(({ ecosystem }) => ecosystem),
    advised_name: column(({ advised_name }) => advised_name),
    direct: column(({ direct }) => direct),
    development: column(({ development }) => development),
    licenses: column(({ licenses }) => arrayOf(licenses)),
    source_path: column(({ source_path }) => source_path),
  };
}

function read({ path, bytes, is_document, parents }: ToReadListing): Contents {
  return is_document ? readDocument(bytes, path) : readListing(bytes, path, parents);
}

function listed(request: ToReadListing): ReadFile {
  const { entries, ...others } = read(request);
  const portions: Portion[] = [];
  for (let at = 0; at < entries.length; at += maximumAtOnce)
    portions.push(portionOf(entries.slice(at, at + maximumAtOnce)));
  return { portions, count: entries.length, ...others };
}

function answer(request: ToReader): FromReader {
  try {
    if ('files' in request)
      return { answer: request.files.map(({ path, bytes }) => JSON.stringify(declaredIn(path, bytes))) };
    if ('packages' in request)
      return { answer: waysTo(request.path, request.bytes, request.packages).map((way) => way ?? []) };
    return { answer: listed(request) };
  } catch (error) {
    if (error instanceof Unreadable) return { reason: error.message };
    if (error instanceof RangeError) return { reason: 'It is nested too deeply.' };
    // A bug in reading one file must not keep the others from being listed.
    return { reason: `It cannot be read: ${(error as Error).message.slice(0, 200)}` };
  }
}

parentPort!.on('message', (request: ToReader) => parentPort!.postMessage(answer(request)));
