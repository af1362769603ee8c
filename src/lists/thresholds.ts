/** The limits at which another way to find a page is tried. Tests lower these numbers, so that few rows are enough to use every way. */
export const thresholds = {
  /**
   * From this row on, links to the next page have a cursor, and a page is planned for its own values. A plan for all callers and pages expects few rows: for page 2,500
   * of the 150,000 projects of a member it looked all of them up and sorted them (320 ms) instead of walking two indexes (13 ms).
   */
  far: 1_000,
  /** Longer lists have no total, because counting would cost many times as much as the page. */
  counted: 10_000,
  /** The limit for looked-up rows: the same as for lists with a total. */
  lookedUp: 10_000,
  /**
   * A look-up is skipped if PostgreSQL expects this many times more rows than are looked up. Its estimates are rough: for 16 words that 1 to 20 % of all issues have, it
   * expected 0.5 to 1.9 times the real number.
   */
  expected: 4,
  /** The last row up to which pages are walked. */
  walkedTo: 10_100,
  /** The number of rows that are tested in all places together: at first, and again if these were too few. */
  tested: [4_000, 40_000],
  /** At least this many for each row up to the end of the page, … */
  testedPerRow: 8,
  /** … and at least this many in each place. */
  testedPerPlace: 10,
  /** Up to this row, if most rows match, each place is tested as if it contained all rows of the page. */
  near: 320,
};
