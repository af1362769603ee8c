/** The step that reports the records that stay at the source (docs/reference/bulk_imports.md#what-stays-behind). */
import { inStep, record } from '../journal_actions.ts';
import { exportOf, isExport } from '../source/export_queries.ts';
import { objectIn } from '../source/self_queries.ts';
import type { Step, StepCall, StepFailure } from '../step_definition.ts';

/**
 * Why records are not copied, by the name of the count; undefined if they stay behind deliberately and are only
 * counted.
 */
const reasons: Readonly<Record<string, string | undefined>> = {
  hooks: undefined,
  variables: undefined,
  deploy_keys: undefined,
  deploy_tokens: undefined,
  access_tokens: undefined,
  triggers: undefined,
  service_accounts: undefined,
  client_keys: undefined,
  invitations: undefined,
  access_requests: undefined,
  draft_notes: undefined,
  stars: undefined,
  events: undefined,
  member_roles: 'members get the level that theirs is based on',
  errors: 'applications report their errors anew, with the keys of the new project',
  push_mirrors: 'they need credentials, which stay at the source',
  pull_mirrors: 'they need credentials, which stay at the source',
  metric_images: 'their files are in no archive',
};

const failuresFor = (relation: string, name: string, count: number): StepFailure[] => {
  const reason = reasons[name];
  if (reason === undefined) return [];
  const message = `${count} ${name.replaceAll('_', ' ')} are left out: ${reason}.`;
  return [{ relation, step: 'loader', exception_class: 'NotSupported', title: null, url: null, message }];
};

/** Counts records that stay behind, once. */
const count = ({ db, step, ...call }: StepCall, relation: string, source: number, failures: StepFailure[]) =>
  inStep(db, step.id, async (tx, row) => {
    if (row.counts[relation]) return;
    await record(tx, { ...call, db, step }, { ...row, relation }, { source, failures });
  });

export const leftStep: Step = {
  name: 'webhooks_count',
  async run(call) {
    const { name } = leftStep;
    const exported = await exportOf(call, name);
    if (!isExport(exported)) return exported;
    const counts = exported.total === 0 ? {} : await objectIn(call, name, exported);
    let total = 0;
    for (const kind of Object.keys(reasons)) {
      const source = counts[kind];
      if (!Number.isSafeInteger(source) || (source as number) < 1) continue;
      total += source as number;
      const relation = `${name}, ${kind}`;
      await count(call, relation, source as number, failuresFor(relation, kind, source as number));
    }
    await count(call, name, Math.min(total, Number.MAX_SAFE_INTEGER), []);
    return 'finished';
  },
};
