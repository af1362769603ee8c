/** The step that resolves references in records to imported records. */
import { settleReferences } from '../../settling_actions.ts';
import { inStep, record } from '../journal_actions.ts';
import type { Step, StepFailure } from '../step_definition.ts';
import { arrivalOf } from './arrival_queries.ts';

/** The journal stores the stage of settling in place of a batch, and the last item in place of a line. */
export const referencesStep: Step = {
  name: 'references',
  async run(call) {
    const { db, step } = call;
    const arrival = await arrivalOf(call);
    for (;;) {
      const isDone = await inStep(db, step.id, async (tx, row) => {
        const { counts, failures, next } = await settleReferences(tx, arrival, { stage: row.batch, after: row.line });
        const place = next && { batch: next.stage, line: next.after };
        await record(tx, call, row, {
          ...place,
          counts,
          failures: failures.map((each): StepFailure => ({ ...each, step: 'loader' })),
        });
        return next === undefined;
      });
      if (isDone) return 'finished';
      if (call.isOverdue()) return { wait_s: 0 };
    }
  },
};
