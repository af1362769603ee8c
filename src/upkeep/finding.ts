/** What a check is given, and what it reports. */
import type { Database } from '../db/index.ts';
import type { ServicesConfig } from '../services/index.ts';

/** Something that is wrong. */
export interface Finding {
  /** What is wrong, and what a repair would do when there is one that harms nothing. */
  sentence: string;
  /** @returns what it did, as a sentence */
  repair?(): Promise<string>;
}

export interface CheckOptions {
  db: Database;
  config: ServicesConfig;
  /** Of the configuration, by name. */
  storages: Readonly<Record<string, string>>;
  /** The folder of the configuration. */
  blobs: string;
  signal: AbortSignal;
}
