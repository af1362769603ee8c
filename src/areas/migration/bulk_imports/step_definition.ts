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

/** By relation: what the source has, what was read, and what was written. */
export type Counts = Record<string, { source: number; fetched: number; imported: number }>;

export type StepRow = Omit<Selectable<DB['bulk_import_relations']>, 'counts'> & { counts: Counts };

export type FailureStep = 'extractor' | 'transformer' | 'loader';

/** A failure, and what failed: reading at the source, or writing here. */
export interface StepFailure extends RecordFailure {
  step: FailureStep;
}

export interface StepCall extends JobServices {
  migration: MigrationRow;
  entity: EntityRow;
  step: StepRow;
  source: Source;
  log: Logger;
  /** Of the log lines of this run. */
  correlation_id: string;
  /** Ends the run: the migration was canceled, or the process stops. */
  signal: AbortSignal;
  /** When the run should give others a turn; it goes on later. */
  isOverdue(): boolean;
}

/** How a run has ended: `wait_s` when the step is not done. */
export type Outcome = 'finished' | 'skipped' | { wait_s: number };

export interface Step {
  /** In the public format where it is a relation, e.g. `labels`. */
  name: string;
  run(call: StepCall): Promise<Outcome>;
}

/** The step cannot be done. */
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
 * What an entity has become.
 * @throws StepFailed when it has been deleted
 */
export function ownerOf({ namespace_id, project_id }: Pick<EntityRow, 'namespace_id' | 'project_id'>): RelationOwner {
  if (project_id !== null) return { kind: 'project', id: project_id };
  if (namespace_id !== null) return { kind: 'group', id: namespace_id };
  throw new StepFailed('PermissionDenied', 'The destination has been deleted.');
}
