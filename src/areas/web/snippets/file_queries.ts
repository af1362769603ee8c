/** Reading the files of a snippet. */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { highlighted } from '../../../highlighting/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { hasLongLine, hasMoreLines } from '../repository/line_rules.ts';
import { type Kind, kinds, type ShownSnippet } from './definition.ts';

export interface SnippetFile {
  path: string;
  /** Where its bytes are, below the address of the server. */
  raw: string;
  /** Undefined if it is no text, or longer than is shown. */
  text: string | undefined;
  /** Its lines as HTML, if its language is known. */
  colours: readonly string[] | undefined;
}

/** The longest file that is shown and edited. */
const most_bytes = 200_000;
const mostColoured_lines = 2_000;

/** The bytes of a file; undefined if there are too many. Leaving the loop ends the stream. */
async function wholeOf(body: Buffer | Readable): Promise<Buffer | undefined> {
  if (Buffer.isBuffer(body)) return body.length > most_bytes ? undefined : body;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most_bytes) return undefined;
  }
  return Buffer.concat(chunks);
}

/** The ref in the address of a file's bytes: `…/raw/main/pick.sh`. */
const refIn = (raw: string): string =>
  decodeURIComponent(raw.slice(raw.indexOf('/raw/') + '/raw/'.length).split('/')[0]!);

async function coloursOf(path: string, text: string, { author }: ShownSnippet): Promise<readonly string[] | undefined> {
  if (hasLongLine(text) || hasMoreLines(text, mostColoured_lines)) return undefined;
  const blob_id = createHash('sha1').update(text).digest('hex');
  return highlighted({ text, file_name: path }, { blob_id, owner: author.id });
}

/** The files of a snippet, of which there are ten at most. */
export const filesOf = (call: PageCall, kind: Kind, snippet: ShownSnippet): Promise<SnippetFile[]> =>
  Promise.all(
    snippet.files.map(async ({ path, raw_url }) => {
      const raw = new URL(raw_url).pathname;
      const { body } = await call.bytes(kinds[kind].file, { ref: refIn(raw), file_path: path });
      const bytes = await wholeOf(body as Buffer | Readable);
      const text = bytes && isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
      return { path, raw, text, colours: text === undefined ? undefined : await coloursOf(path, text, snippet) };
    }),
  );
