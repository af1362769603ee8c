/** The interface of a relation for imports (docs/reference/bulk_imports.md). */
import type { Database } from '../db/index.ts';
import type { Services } from '../http/index.ts';
import type { RelationOwner } from './exported.ts';

/** A line of a file. */
export interface ArrivedRecord {
  /** From 1. */
  line: number;
  value: Record<string, unknown>;
}

/** A record that was not imported, and the reason. */
export interface RecordFailure {
  /** For a nested record, with the name of its parent: `issues, notes`. */
  relation: string;
  exception_class: string;
  message: string;
  title: string | null;
  url: string | null;
}

/** How many records of a relation were read and written. */
export interface RecordCount {
  fetched: number;
  imported: number;
}

export interface Arrived {
  /** By relation: `issues`, `issues, notes`. */
  counts: Record<string, RecordCount>;
  failures: RecordFailure[];
}

/** The destination of records, and the mapping of their ids and texts. */
export interface Arrival {
  services: Services;
  owner: RelationOwner;
  importer_id: number;
  /** The id of the migration's entity. The new ids of threads depend on it, so that a repeated run assigns the same ones. */
  entity_id: number;
  /** Whether an earlier run has written some of the records: those are passed over, and not counted. */
  is_again: boolean;
  /** The user who stands for authors that the source does not know either. */
  ghost_id: number;
  /** Maps ids of users at the source to local ids; creates placeholders for unknown ones, in the same transaction. */
  people(tx: Database, source_ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** The ids of users who have a local account, without placeholders. */
  accounts(tx: Database, source_ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** The full path here for a full path at the source; undefined if it is not part of the migration. */
  path(source_path: string): string | undefined;
  /** The id here of a project that is part of the migration, by its id at the source. */
  project(source_id: number): number | undefined;
  /** The same for a group. */
  group(source_id: number): number | undefined;
  /** A text whose references, mentions and addresses lead to the objects here. */
  text(text: string): Promise<string>;
}

/** A relation that arrives as lines of JSON. */
export interface ArrivingRelation {
  name: string;
  /**
   * Writes at most 200 records. One that the API would refuse is a failure.
   * @param tx the transaction that also records how far the import has come
   */
  arrive(tx: Database, arrival: Arrival, records: readonly ArrivedRecord[]): Promise<Arrived>;
}
