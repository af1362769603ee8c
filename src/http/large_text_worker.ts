/** The thread that `large_text.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { parse } from 'secure-json-parse';
import { ApiError, mismatch, textOf } from './errors.ts';
import { pairsIn, type Values } from './form.ts';
import { type FromParser, maximumString_chars, type ToParser } from './large_text.ts';

const texts = new Map<number, Uint8Array[]>();

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

function parsed(id: number, chunks: Uint8Array[], as: 'json' | 'form'): FromParser {
  const text = Buffer.concat(chunks).toString();
  try {
    return { id, value: as === 'json' ? parse(text) : pairsIn(text) };
  } catch (error) {
    return { id, refusal: error instanceof ApiError ? textOf(error) : mismatch };
  }
}

parentPort!.on('message', (message: ToParser) => {
  const { id } = message;
  const chunks = texts.get(id) ?? [];
  if ('chunk' in message) {
    chunks.push(message.chunk);
    texts.set(id, chunks);
    return;
  }
  texts.delete(id);
  if (message.end === 'forget') return;
  const answer = parsed(id, chunks, message.end);
  const moved: ArrayBuffer[] = [];
  if ('value' in answer) answer.value = withLongAsBytes(answer.value, moved);
  parentPort!.postMessage(answer, moved);
});
