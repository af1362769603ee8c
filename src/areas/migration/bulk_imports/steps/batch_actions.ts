/** Reading the batches of an exported relation, starting where the journal records that it stopped. */

import { inStep, record } from '../journal_actions.ts';
import { type Exported, exportOf, isExport } from '../source/export_queries.ts';
import type { Outcome, StepCall, StepFailure } from '../step_definition.ts';

/** A batch, and the last line or entry read from it. */
export interface BatchPosition {
  batch: number;
  line: number;
}

const lost = (relation: string, message: string): StepFailure => ({
  relation,
  step: 'extractor',
  exception_class: 'ExportFailed',
  message,
  title: null,
  url: null,
});

/**
 * Reads the batches one after another.
 * @param readOn reads a batch, or a part of it. @returns whether it reached the end
 */
export async function throughBatches(
  call: StepCall,
  relation: string,
  readOn: (exported: Exported, place: BatchPosition) => Promise<boolean>,
): Promise<Outcome> {
  const { db, step } = call;
  const exported = await exportOf(call, relation);
  if (!isExport(exported)) return exported;
  await inStep(db, step.id, (tx, row) =>
    record(tx, call, row, { source: exported.total, batches_count: exported.batches.length }),
  );
  let place: BatchPosition = step.batch === 0 ? { batch: 1, line: 0 } : step;
  for (const { number, error } of exported.batches.slice(place.batch - 1)) {
    if (number !== place.batch) place = { batch: number, line: 0 };
    if (error === undefined && !(await readOn(exported, place))) return { wait_s: 0 };
    const failures = error === undefined ? [] : [lost(relation, error)];
    await inStep(db, step.id, (tx, row) => record(tx, call, row, { failures, batch: number + 1, line: 0, etag: null }));
    if (call.isOverdue()) return { wait_s: 0 };
  }
  return 'finished';
}
