import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counted, isFinal, overallStatus, type State, states } from '../../code/pipelines/rules.ts';
import { advance, nextOf, type PlannedJob, type RunWhen } from './rules.ts';

const every: Counted[] = states.flatMap((status) => [true, false].map((allow_failure) => ({ status, allow_failure })));
const conditions: RunWhen[] = ['on_success', 'on_failure', 'always', 'manual', 'delayed'];

/** docs/reference/pipelines.md#who-goes-next, written once more in another way. */
function expected(run_when: RunWhen, hasNeeds: boolean, before: readonly Counted[]): string | undefined {
  const isLeft = ({ status, allow_failure }: Counted) => status === 'manual' && allow_failure;
  if (before.some((job) => !isFinal(job.status) && !isLeft(job))) return undefined;
  if (hasNeeds && run_when !== 'always' && before.some((job) => job.status === 'skipped' || isLeft(job)))
    return 'skipped';
  const status = before.length === 0 ? 'success' : overallStatus(before);
  if (run_when === 'always') return 'ready';
  if (run_when === 'on_failure') return status === 'failed' ? 'ready' : 'skipped';
  if (status !== 'success' && status !== 'skipped') return 'skipped';
  return { on_success: 'ready', manual: 'manual', delayed: 'scheduled' }[run_when];
}

test('every combination of up to three jobs, of conditions, and of needs or stages decides what becomes of a job', () => {
  for (const run_when of conditions)
    for (const needs of [null, ['some']])
      for (const one of [undefined, ...every])
        for (const other of [undefined, ...every])
          for (const third of [undefined, ...every]) {
            const before = [one, other, third].filter((job) => job !== undefined);
            assert.equal(
              nextOf({ run_when, needs }, before),
              expected(run_when, needs !== null, before),
              JSON.stringify({ run_when, needs, before }),
            );
          }
});

let lastId = 0;
const job = (name: string, stage_index: number, given: Partial<PlannedJob> = {}): PlannedJob => ({
  ...{ id: ++lastId, name, stage_index, status: 'created', allow_failure: false, run_when: 'on_success', needs: null },
  ...given,
});
const nextByName = (jobs: readonly PlannedJob[]) => {
  const next = advance(jobs);
  return Object.fromEntries(jobs.flatMap(({ id, name }) => (next.has(id) ? [[name, next.get(id)]] : [])));
};

test('the jobs of a stage wait for all of the earlier ones, and needs for the needed ones alone', () => {
  const running = job('build', 0, { status: 'running' });
  const built = job('lint', 0, { status: 'success' });
  assert.deepEqual(nextByName([running, built, job('test', 1), job('quick', 1, { needs: ['lint'] })]), {
    quick: 'ready',
  });
  assert.deepEqual(nextByName([job('build', 0), job('test', 1), job('free', 2, { needs: [] })]), {
    build: 'ready',
    free: 'ready',
  });
});

test('a skipped job decides on later ones at once, however they stand in their stage', () => {
  const failed = job('build', 0, { status: 'failed' });
  const jobs = [
    job('third', 1, { needs: ['second'] }),
    job('second', 1, { needs: ['first'] }),
    job('first', 1, { needs: ['build'] }),
    job('clean', 2, { run_when: 'always' }),
    job('report', 2, { run_when: 'on_failure' }),
    job('deploy', 3),
  ];
  assert.deepEqual(nextByName([failed, ...jobs]), {
    first: 'skipped',
    second: 'skipped',
    third: 'skipped',
    clean: 'ready',
    report: 'ready',
  });
});

test('a manual job that nobody has to start lets later ones go on, another one blocks them', () => {
  const optional = job('ask', 0, { run_when: 'manual', allow_failure: true });
  const required = job('ask', 0, { run_when: 'manual' });
  assert.deepEqual(nextByName([optional, job('after', 1)]), { ask: 'manual', after: 'ready' });
  assert.deepEqual(nextByName([required, job('after', 1)]), { ask: 'manual' });
});

test('jobs that need each other are left alone instead of being followed for ever', () => {
  assert.deepEqual(nextByName([job('a', 0, { needs: ['b'] }), job('b', 0, { needs: ['a'] })]), {});
});

test('thousands of jobs that need each other in a row are decided on in one pass', () => {
  const jobs = Array.from({ length: 5_000 }, (_, index) =>
    job(`job ${index}`, 0, {
      needs: index === 0 ? [] : [`job ${index - 1}`],
      ...(index === 0 ? { status: 'skipped' as State } : {}),
    }),
  );
  assert.equal(advance(jobs).size, 4_999);
});
