/** Chance that can be repeated: everything drawn follows from the seed. */

export interface Random {
  /** An integer from 0 to `end`, without `end`. */
  below(end: number): number;
  /** One of `list`, which has at least one. */
  of<T>(list: readonly T[]): T;
  /** Whether something happens that does so in `percent` of all cases. */
  happens(percent: number): boolean;
}

/**
 * Draws from a seed, with the generator “mulberry32”.
 * @param seed an integer; equal seeds draw equally
 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const below = (end: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
  return {
    below,
    of: (list) => list[below(list.length)]!,
    happens: (percent) => below(100) < percent,
  };
}

/** The seed of today, YYYYMMDD: a day repeats itself, and every day tries something else. */
export const seedOfToday = (): number => Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));
