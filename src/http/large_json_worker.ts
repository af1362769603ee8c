/** The thread that `large_json.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { parse } from 'secure-json-parse';
import type { FromParser, ToParser } from './large_json.ts';

const texts = new Map<number, Uint8Array[]>();

function parsed(id: number, chunks: Uint8Array[]): FromParser {
  try {
    return { id, value: parse(Buffer.concat(chunks).toString()) };
  } catch {
    return { id, isInvalid: true };
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
  if (message.end === 'parse') parentPort!.postMessage(parsed(id, chunks));
});
