/** The thread that `large_text.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { parse } from 'secure-json-parse';
import { ApiError, mismatch, textOf } from './errors.ts';
import { pairsIn } from './form.ts';
import type { FromParser, ToParser } from './large_text.ts';

const texts = new Map<number, Uint8Array[]>();

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
  if (message.end !== 'forget') parentPort!.postMessage(parsed(id, chunks, message.end));
});
