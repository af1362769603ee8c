/** Results of tests. */

/** The largest report, when it is unpacked. */
export const maximumReport_bytes = 30 * 1024 * 1024;

export const outcomes = ['success', 'failed', 'skipped', 'error'] as const;
export type Outcome = (typeof outcomes)[number];

export interface TestCase {
  status: Outcome;
  name: string;
  classname: string | null;
  file: string | null;
  /** Seconds. */
  execution_time: number;
  /** What the test said of its end. */
  system_output: string | null;
  /** The path of a file that belongs to it, such as a picture of the screen. */
  attachment: string | null;
}

/** How many tests ended how, and how long they took together. */
export type Summary = Record<Outcome, number> & { total_time: number };
