/** The last steps: continuing number sequences where the source was, and reporting relations that are not imported. */
import { type NumberUsage, raiseIid } from '../../../../db/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { exportsOf } from '../source/export_queries.ts';
import { isRecord } from '../source/queries.ts';
import { timeIn, withSelf } from '../source/self_queries.ts';
import type { Step, StepFailure } from '../step_definition.ts';
import { ownerOf } from '../step_definition.ts';
import { stepsOfType } from '../step_rules.ts';

const usages = {
  project: ['issues', 'merge_requests', 'milestones', 'deployments', 'feature_flags', 'feature_flag_user_lists'],
  group: ['epics', 'milestones', 'iterations'],
} as const;
const largest = 2 ** 31 - 1_000_000;

/** The next number here follows the highest one ever assigned at the source. */
export const numbersStep: Step = {
  name: 'numbers',
  run: (call) =>
    withSelf(call, async ({ max_iids }) => {
      const { kind, id } = ownerOf(call.entity);
      const numbers: Record<string, unknown> = isRecord(max_iids) ? max_iids : {};
      await inStep(call.db, call.step.id, async (tx) => {
        for (const usage of usages[kind] as readonly NumberUsage[]) {
          const iid = numbers[usage];
          if (!Number.isSafeInteger(iid) || (iid as number) < 1 || (iid as number) > largest) continue;
          await raiseIid(tx, kind === 'project' ? { project_id: id } : { namespace_id: id }, usage, iid as number);
        }
      });
    }),
};

/** Relations whose content is also part of `self`. */
const carriedBySelf = ['self', 'project_feature', 'namespace_settings'];

/** Relations that are deliberately not imported, and only counted. */
const leftOut: ReadonlySet<string> = new Set(['error_tracking_setting']);

/**
 * Relations of the source that no step reads: counted, and reported once each unless they are left out deliberately.
 */
export const othersStep: Step = {
  name: 'others',
  async run(call) {
    const { entity, step, db } = call;
    const known = new Set([...carriedBySelf, ...stepsOfType(entity.entity_type).map(({ name }) => name)]);
    for (const { relation, total_objects_count: total } of await exportsOf(call)) {
      if (typeof relation !== 'string' || known.has(relation) || !/^\w{1,100}$/.test(relation)) continue;
      if (!Number.isSafeInteger(total) || (total as number) < 1) continue;
      const failure: StepFailure = {
        relation,
        step: 'loader',
        exception_class: 'NotSupported',
        title: null,
        url: null,
        message: `There are no ${relation.replaceAll('_', ' ')} here.`,
      };
      await inStep(db, step.id, async (tx, row) => {
        if (row.counts[relation]) return;
        const of_relation = { ...row, relation };
        await record(tx, call, of_relation, {
          source: total as number,
          failures: leftOut.has(relation) ? [] : [failure],
        });
      });
    }
    return 'finished';
  },
};

/** Archives the project last, so that this does not block earlier steps, and restores its times from the source. */
export const archivedStep: Step = {
  name: 'archived',
  run: (call) =>
    withSelf(call, async (self) => {
      const times = { ...timeIn(self, 'updated_at'), ...timeIn(self, 'last_activity_at') };
      const columns = { ...times, ...(self.archived === true && { archived: true }) };
      if (Object.keys(columns).length === 0) return;
      const { id } = ownerOf(call.entity);
      await inStep(call.db, call.step.id, async (tx) => {
        await tx.updateTable('projects').set(columns).where('id', '=', id).execute();
      });
    }),
};
