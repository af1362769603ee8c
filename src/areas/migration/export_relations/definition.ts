/** The parts of exports: relations, including archives, and the files that jobs write. */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Batch, Departure, ExportedRelation } from '../../../relations/index.ts';
import type { JobServices } from '../../../services/index.ts';

/** The group or project of an export. */
export type ExportOwner = Departure['owner'];

/** A file in an archive. */
export interface ArchiveEntry {
  name: string;
  size_bytes: number;
  /** A stream of exactly this many bytes. */
  content: Readable;
  /** Whether it counts as an exported object. */
  is_object: boolean;
}

/** The context in which an archive reads its entries. */
export interface ArchiveCall extends Pick<JobServices, 'db' | 'blobs' | 'storages'> {
  /** A transaction with one snapshot. */
  tx: Database;
  owner: ExportOwner;
  batch: Batch | undefined;
  signal: AbortSignal;
  log: Logger;
}

/** A relation that is an archive of files. */
export interface ExportedArchive {
  name: string;
  form: 'archive';
  is_batched: boolean;
  plan?: undefined;
  batches(tx: Database, departure: Departure, size: number): Promise<Batch[]>;
  /** Yields entries; each is read before the next one is requested. Lost files are left out and logged. */
  entries(call: ArchiveCall): AsyncIterable<ArchiveEntry>;
}

export type Relation = ExportedRelation | ExportedArchive;

/** States of exports and of their files, as in the API. */
export const states = { started: 0, finished: 1, failed: -1 } as const;
export type State = (typeof states)[keyof typeof states];

/** A file that a run has started to write. */
export interface BegunFile {
  id: number;
  run: number;
  export_id: number;
  /** 0 for the file of a whole relation. */
  batch_number: number;
  batch: Batch | undefined;
  failures: number;
  relation: string;
  batched: boolean;
  user_id: number;
  owner: ExportOwner;
}

/** A complete file. */
export interface WrittenFile {
  key: BlobKey;
  size_bytes: number;
  sha256: string;
  objects_count: number;
}
