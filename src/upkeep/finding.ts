/** The input and the findings of a check. */
import type { Blobs } from '../blobs/index.ts';
import type { Database } from '../db/index.ts';
import type { ServicesConfig } from '../services/index.ts';

/** An inconsistency. */
export interface Finding {
  /** The problem, and the effect of the repair, if there is a harmless one. */
  sentence: string;
  /** @returns a sentence about the repair */
  repair?(): Promise<string>;
  /**
   * Restores lost data.
   * @returns a sentence about the repair
   */
  recover?(): Promise<string>;
  /** Whether this is in progress or will be settled by a server soon: nothing is wrong yet. */
  pending?: boolean;
  /**
   * Looks again at the repository that this is about, once all of its findings were dealt with: a repair may have mended other findings, or uncovered some.
   * The findings of a repository share it.
   */
  again?(): Promise<Finding[]>;
}

export interface CheckOptions {
  db: Database;
  config: ServicesConfig;
  /** Configured folders by name. */
  storages: Readonly<Record<string, string>>;
  blobs: Blobs;
  signal: AbortSignal;
}
