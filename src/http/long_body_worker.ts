/** The thread that `long_body.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { parse } from 'secure-json-parse';
import { ApiError, mismatch, textOf } from './errors.ts';
import { FormBounds, maximumString_chars, pairsIn, type Values } from './form.ts';
import { JsonBounds } from './json_bounds.ts';
import type { FromParser, ToParser } from './long_body.ts';

/** The same value with its long strings as UTF-8, whose memory is added to `moved`. */
function withLongAsBytes(value: unknown, moved: ArrayBuffer[]): unknown {
  if (typeof value === 'string' && value.length > maximumString_chars) {
    const bytes = new TextEncoder().encode(value);
    moved.push(bytes.buffer);
    return bytes;
  }
  if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) (value as Values)[key] = withLongAsBytes(member, moved);
  return value;
}

/** Whether transferring a value takes longer than parsing it: true for many small objects, but not for long lists. */
const isCostlyToMove = (bounds: JsonBounds, size_bytes: number) =>
  bounds.elements > manyElements && !bounds.isLong && size_bytes < largeBody_bytes;
const manyElements = 2000;
const largeBody_bytes = 3 * 1024 * 1024;

function answerTo({ pages, as }: ToParser, moved: ArrayBuffer[]): FromParser {
  const bytes = Buffer.concat(pages);
  if (as === 'form') {
    new FormBounds().add(bytes);
    return { value: withLongAsBytes(pairsIn(bytes.toString()), moved) };
  }
  const bounds = new JsonBounds();
  bounds.add(bytes);
  if (isCostlyToMove(bounds, bytes.length)) {
    const text = Uint8Array.from(bytes);
    moved.push(text.buffer);
    return { text };
  }
  const text = bytes.toString();
  return { value: text.trim() === '' ? {} : withLongAsBytes(parse(text), moved) };
}

parentPort!.on('message', (message: ToParser) => {
  const moved: ArrayBuffer[] = [];
  try {
    parentPort!.postMessage(answerTo(message, moved), moved);
  } catch (error) {
    const refusal = error instanceof ApiError ? textOf(error) : mismatch;
    parentPort!.postMessage({ refusal } satisfies FromParser);
  }
});
