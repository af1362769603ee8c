/** What a check is given, and what it reports. */
import type { Database } from '../db/index.ts';
import type { ServicesConfig } from '../services/index.ts';

/** Something that is wrong. */
export interface Finding {
  /** What is wrong, and what a repair would do when there is one that harms nothing. */
  sentence: string;
  /** @returns what it did, as a sentence */
  repair?(): Promise<string>;
  /** Brings back what was lost. @returns what it did, as a sentence */
  recover?(): Promise<string>;
  /** Whether this is in progress or will be settled by a server soon: nothing is wrong yet. */
  pending?: boolean;
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
