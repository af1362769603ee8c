/** The interface of a relation for exports (docs/reference/relations_export.md). */
import type { Reading } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import type { Plan } from '../http/index.ts';

/** The project or group whose records leave or arrive. */
export interface RelationOwner {
  kind: 'project' | 'group';
  id: number;
}

/** The owner of the records, and the reader of the export. */
export interface Departure {
  caller: Reading;
  owner: RelationOwner;
  /** Git storages by name: absolute folders. */
  storages: Readonly<Record<string, string>>;
}

/** The ids of the records of a batch, both included. */
export interface Batch {
  first_id: number;
  last_id: number;
}

/** Lines that belong together: `text` is whole lines, each ended by a newline. */
export interface Lines {
  text: string;
  count: number;
}

/** A relation that leaves as lines of JSON. */
export interface ExportedRelation {
  /** In the public format, e.g. `labels`. */
  name: string;
  form: 'tree' | 'self';
  is_batched: boolean;
  /** The plan that has such records. */
  plan?: Plan;
  /** The batches of at most `size` records each, by id. */
  batches(tx: Database, departure: Departure, size: number): Promise<Batch[]>;
  /**
   * The lines, in portions of bounded size.
   * @param tx a transaction that reads one snapshot
   */
  lines(tx: Database, departure: Departure, batch?: Batch): AsyncIterable<Lines>;
}
