/** The thread that `reading.ts` starts. It reads one file after another. */
import { parentPort } from 'node:worker_threads';
import { type Contents, Unreadable } from './entries.ts';
import { readDocument, readListing } from './files.ts';
import type { FromReader, ToReader } from './reading.ts';

/** How many packages are sent as one text, so that neither thread is busy with one for long. */
const portion = 2_000;

function read({ path, bytes, is_document }: ToReader): Contents {
  return is_document ? readDocument(bytes, path) : readListing(bytes, path);
}

function answer(request: ToReader): FromReader {
  const { id } = request;
  try {
    const { entries, includes } = read(request);
    const portions = [];
    for (let at = 0; at < entries.length; at += portion) portions.push(JSON.stringify(entries.slice(at, at + portion)));
    return { id, file: { portions, count: entries.length, includes } };
  } catch (error) {
    if (error instanceof Unreadable) return { id, reason: error.message };
    if (error instanceof RangeError) return { id, reason: 'It is nested too deeply.' };
    // A mistake in reading one file must not keep the others from being listed.
    return { id, reason: `It cannot be read: ${(error as Error).message.slice(0, 200)}` };
  }
}

parentPort!.on('message', (request: ToReader) => parentPort!.postMessage(answer(request)));
