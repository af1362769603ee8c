/** Reads source maps in threads of their own: parsing one of some megabytes takes longer than the main thread may be held. */
import { FairThreads, type Work } from '../foundation/fair_threads.ts';

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

const threads = new FairThreads<ToMap, Mapped>('source_maps/mapping_worker', {
  heap_mib: 768,
  budget_ms: 5_000,
  mostWaiting: 50,
});

/**
 * Where positions in generated code come from.
 * @param map its bytes are taken over
 * @param work its owner is the project
 * @returns for each position, null where the map does not know; undefined for a map that cannot be read
 * @throws OverBudget, TooMuchWaiting, and the reason of the signal
 */
export const originalsOf = (map: ToMap, work: Omit<Work, 'moved'>): Promise<Mapped> =>
  threads.run(map, { ...work, moved: [map.bytes.buffer] });
