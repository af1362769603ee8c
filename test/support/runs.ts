/** How much is tried by tests that draw their cases: something in `npm test`, a lot in `npm run test:long`. */

export const isLong = process.env.TEST_LONG !== undefined;

/** How many cases are drawn. */
export const runs = (usual: number, long: number): number => (isLong ? long : usual);

/**
 * A sixth of a list, or all of it in a long run.
 * @param offset which sixth it is, as any integer
 */
export const someOf = <T>(list: readonly T[], offset: number): readonly T[] =>
  isLong ? list : list.filter((_, index) => (index + offset) % 6 === 0);
