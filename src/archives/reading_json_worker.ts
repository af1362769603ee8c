/** The thread that `reading_json.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { boundedJson } from './bounded_json.ts';
import { InvalidContent, LimitExceeded } from './errors.ts';
import { portionsOf } from './portions.ts';
import type { FromReader } from './reading_json.ts';

function answerTo(bytes: Uint8Array): FromReader {
  try {
    const value = boundedJson(Buffer.from(bytes.buffer));
    const encoder = new TextEncoder();
    return { portions: Array.from(portionsOf({ value }), (portion) => encoder.encode(JSON.stringify(portion))) };
  } catch (error) {
    if (error instanceof InvalidContent) return { refusal: 'InvalidContent', message: error.message };
    if (error instanceof LimitExceeded) return { refusal: 'LimitExceeded', message: error.message };
    throw error;
  }
}

parentPort!.on('message', (bytes: Uint8Array) => {
  const answer = answerTo(bytes);
  parentPort!.postMessage(
    answer,
    'portions' in answer ? answer.portions.map(({ buffer }) => buffer as ArrayBuffer) : [],
  );
});
