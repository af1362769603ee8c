/** Reads source maps in a thread of its own: parsing one of some megabytes takes longer than the main thread may be held. */
import { Worker } from 'node:worker_threads';
import { programFile } from '../installation.ts';

/** A source map, and the positions in its file that are asked for. */
export interface ToMap {
  /** The JSON. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Whether it is compressed (raw deflate). */
  is_deflated: boolean;
  /** Lines and columns, both counted from 1. */
  positions: readonly [line: number, column: number][];
}

/** Where a position comes from. */
export interface Original {
  source: string;
  line: number;
  /** Counted from 1. */
  column: number;
  /** What is named there in the source. */
  name: string | null;
  /** The lines around it with their numbers; none if the map does not have the source. */
  context: [number, string][];
}

/** The answer of the thread: for each position of the map, or undefined for a map that cannot be read. */
export type Mapped = (Original | null)[] | undefined;

const idle_ms = 30_000;
const budget_ms = 10_000;
const heap_mib = 768;
/** Further calls are answered without the thread. */
const mostWaiting = 50;

let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

function started(): Worker {
  clearTimeout(idle);
  thread ??= new Worker(programFile('source_maps/mapping_worker'), { resourceLimits: { maxOldGenerationSizeMb: heap_mib } });
  thread.ref();
  return thread;
}

function stop(): void {
  void thread?.terminate();
  thread = undefined;
}

/** Ends the thread if nothing follows. Meanwhile it does not keep the program running. */
function rest(): void {
  thread?.unref();
  idle = setTimeout(stop, idle_ms).unref();
}

/** One call at a time: the memory of the thread is for one map. */
async function ask(map: ToMap): Promise<Mapped> {
  const asked = started();
  const { promise, resolve } = Promise.withResolvers<Mapped>();
  /** A map that takes too long or too much memory has no positions; the next one gets another thread. */
  const giveUp = () => {
    stop();
    resolve(undefined);
  };
  const watch = setTimeout(giveUp, budget_ms);
  asked.once('message', resolve).once('error', giveUp);
  asked.postMessage(map, [map.bytes.buffer]);
  try {
    return await promise;
  } finally {
    clearTimeout(watch);
    asked.off('message', resolve).off('error', giveUp);
    // An error after this one has no listener, and would end the program.
    if (thread !== asked) asked.on('error', () => {});
    rest();
  }
}

/**
 * Where positions in generated code come from.
 * @param map its bytes are taken over
 * @returns for each position, null where the map does not know; undefined for a map that cannot be read
 */
export async function originalsOf(map: ToMap): Promise<Mapped> {
  if (waiting >= mostWaiting) return undefined;
  waiting += 1;
  const mapped = last.then(() => ask(map));
  last = mapped.catch(() => {});
  try {
    return await mapped;
  } finally {
    waiting -= 1;
  }
}
