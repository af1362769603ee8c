/** The types of the steps of a migration: what is copied of an entity, one job each (docs/reference/bulk_imports.md#how-it-runs). */
import type { Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { DB } from '../../../db/index.ts';
import type { RecordFailure, RelationOwner } from '../../../relations/index.ts';
import type { JobServices } from '../../../services/index.ts';
import type { EntityType, MigrationRow, State } from './definition.ts';
import type { Source } from './source/queries.ts';

export type EntityRow = Omit<Selectable<DB['bulk_import_entities']>, 'state' | 'entity_type'> & {
  state: State;
  entity_type: EntityType;
};

/** By relation: the number of records at the source, of those read, and of those written. */
export type Counts = Record<string, { source: number; fetched: number; imported: number }>;

export type StepRow = Omit<Selectable<DB['bulk_import_relations']>, 'counts'> & { counts: Counts };

export type FailureStep = 'extractor' | 'transformer' | 'loader';

/** A failure and its stage: reading at the source, or writing here. */
export interface StepFailure extends RecordFailure {
  step: FailureStep;
}

export interface StepCall extends JobServices {
  migration: MigrationRow;
  entity: EntityRow;
  step: StepRow;
  source: Source;
  log: Logger;
  /** The correlation ID in the log lines of this run. */
  correlation_id: string;
  /** Aborts the run: the migration was canceled, or the process stops. */
  signal: AbortSignal;
  /** Whether the run should yield to others; it continues later. */
  isOverdue(): boolean;
}

/** The outcome of a run: `wait_s` if the step is not complete. */
export type Outcome = 'finished' | 'skipped' | { wait_s: number };

export interface Step {
  /** The name of the relation in the public format, e.g. `labels`, or of the step. */
  name: string;
  run(call: StepCall): Promise<Outcome>;
}

/** The step cannot be completed. */
export class StepFailed extends Error {
  override name = 'StepFailed';
  readonly exception_class: string;
  readonly step: FailureStep;
  constructor(exception_class: string, message: string, step: FailureStep = 'loader') {
    super(message);
    this.exception_class = exception_class;
    this.step = step;
  }
}

/**
 * The group or project that was created for an entity.
 * @throws StepFailed if it was deleted
 */
export function ownerOf({ namespace_id, project_id }: Pick<EntityRow, 'namespace_id' | 'project_id'>): RelationOwner {
  if (project_id !== null) return { kind: 'project', id: project_id };
  if (namespace_id !== null) return { kind: 'group', id: namespace_id };
  throw new StepFailed('PermissionDenied', 'The destination has been deleted.');
}
