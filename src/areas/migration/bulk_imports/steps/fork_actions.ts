/** The step that links a fork to the project it was forked from. */
import { leadFork } from '../../../spaces/projects/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { ask, isRecord, pathAtSource } from '../source/queries.ts';
import { ownerOf, type Step, type StepFailure } from '../step_definition.ts';
import { arrivalOf } from './arrival_queries.ts';

const outside: StepFailure = {
  relation: 'fork',
  step: 'loader',
  exception_class: 'InvalidRecord',
  title: null,
  url: null,
  message: 'The project that it was forked from is not part of the migration.',
};

/** The source of a fork is read over the API, because it is not a relation. */
export const forkStep: Step = {
  name: 'fork',
  async run(call) {
    const { value } = await ask(call.source, pathAtSource(call.entity));
    const from = isRecord(value) ? value.forked_from_project : undefined;
    if (!isRecord(from)) return 'finished';
    const source_id = (await arrivalOf(call)).project(Number(from.id));
    await inStep(call.db, call.step.id, async (tx, row) => {
      const isLed = source_id !== undefined && (await leadFork(tx, ownerOf(call.entity).id, source_id));
      const counts = { fork: { fetched: 1, imported: isLed ? 1 : 0 } };
      await record(tx, call, row, { counts, failures: isLed ? [] : [outside] });
    });
    return 'finished';
  },
};
