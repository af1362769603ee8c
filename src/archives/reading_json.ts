/** Parses lines of JSON that another system wrote, without holding up other requests. */
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { nextTurn } from '../foundation/loop_turns.ts';
import { boundedJson, type Json } from './bounded_json.ts';
import { InvalidContent, LimitExceeded } from './errors.ts';
import { addPortion, type Portion } from './portions.ts';

/** The portions of an object whose only member is the value, each as JSON in UTF-8. */
export type FromReader = { portions: Uint8Array[] } | { refusal: 'InvalidContent' | 'LimitExceeded'; message: string };

/** Objects whose member names are all distinct take 15 ms to parse at this length; typical objects written by programs take less than one. */
const maximumHere_bytes = 64 * 1024;

const threads = new FairThreads<Uint8Array, FromReader>('archives/reading_json_worker', {
  heap_mib: 2048,
  budget_ms: 5_000,
  mostWaiting: 1000,
});

let pieces = 0;

/**
 * The value of a JSON text in UTF-8, without members named `__proto__` or `constructor`. Texts above 64 KiB are parsed in a thread.
 * @param bytes not to be used any more: a thread takes their memory over
 * @param owner the owner whose turn is used in the thread
 * @throws InvalidContent; LimitExceeded for more than 64 levels or 2,000,000 values, and for texts that take 5 s to parse
 */
export async function readJson(bytes: Buffer, owner: number): Promise<Json> {
  if (bytes.length <= maximumHere_bytes) return boundedJson(bytes);
  const answer = await asked(bytes, owner);
  if ('refusal' in answer) throw new { InvalidContent, LimitExceeded }[answer.refusal](answer.message);
  const whole: { value: Json } = { value: null };
  const decoder = new TextDecoder();
  for (const portion of answer.portions) {
    addPortion(whole, JSON.parse(decoder.decode(portion)) as Portion);
    await nextTurn();
  }
  return whole.value;
}

async function asked(bytes: Buffer, owner: number): Promise<FromReader> {
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes));
  try {
    return await threads.run(own, { owner, content: String(++pieces), moved: [own.buffer as ArrayBuffer] });
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    throw new LimitExceeded(`Parsing it takes too ${error.resource === 'time' ? 'long' : 'much memory'}.`);
  }
}
