import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomFrom, seedOfToday } from '../../../../test/support/random.ts';
import { type Counted, isFinal, overallStatus, type State, states } from '../../code/pipelines/rules.ts';
import { advance, nextOf, type PlannedJob, type RunWhen } from './rules.ts';

const seed = Number(process.env.SEED ?? seedOfToday());
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

/** A random pipeline, and how each of its jobs ends if it is started. */
function randomPipeline(random: Random) {
  const stages = 1 + random.below(4);
  const jobs: PlannedJob[] = [];
  for (let stage_index = 0; stage_index < stages; stage_index++)
    for (let count = random.below(4); count > 0; count--) {
      const earlier = jobs.map(({ name }) => name);
      const needs = random.happens(40) ? earlier.filter(() => random.happens(40)) : null;
      const run_when = random.of(conditions);
      jobs.push(job(`job ${jobs.length}`, stage_index, { needs, run_when, allow_failure: random.happens(30) }));
    }
  const ends = new Map(jobs.map(({ id }) => [id, random.of(['success', 'success', 'failed', 'canceled'] as const)]));
  return { jobs, ends };
}

/** Runs a pipeline: in each step a runner, a person or a clock deals with one of the jobs that have their turn. */
function run({ jobs, ends }: ReturnType<typeof randomPipeline>, random: Random): PlannedJob[] {
  const now = jobs.map((each) => ({ ...each }));
  for (let steps = 0; ; steps++) {
    assert.ok(steps <= 2 * jobs.length, 'a pipeline ends');
    for (const [id, next] of advance(now))
      now.find((each) => each.id === id)!.status = next === 'ready' ? 'pending' : next;
    const waiting = now.filter(({ status }) => status === 'pending' || status === 'manual' || status === 'scheduled');
    if (waiting.length === 0) return now;
    const chosen = random.of(waiting);
    chosen.status = ends.get(chosen.id)!;
  }
}

/** How the jobs of a pipeline end, by the reference alone: each follows from the final states before it. */
function modelled({ jobs, ends }: ReturnType<typeof randomPipeline>): (State | undefined)[] {
  const states = new Map<string, Counted>();
  for (const { id, name, needs, run_when, stage_index, allow_failure } of jobs) {
    const names = needs ?? jobs.filter((other) => other.stage_index < stage_index).map((other) => other.name);
    const next = expected(
      run_when,
      needs !== null,
      names.map((each) => states.get(each)!),
    );
    states.set(name, { status: next === 'skipped' ? 'skipped' : ends.get(id)!, allow_failure });
  }
  return jobs.map(({ name }) => states.get(name)?.status);
}

test(`random pipelines end as the model says, in whatever order their jobs end (SEED=${seed})`, () => {
  const random = randomFrom(seed);
  for (let count = 0; count < 2_000; count++) {
    const pipeline = randomPipeline(random);
    const model = modelled(pipeline);
    // A manual job that may be left lets later ones go on, so that those depend on when somebody starts it.
    if (pipeline.jobs.some(({ run_when, allow_failure }) => run_when === 'manual' && allow_failure)) continue;
    for (let order = 0; order < 3; order++)
      assert.deepEqual(
        run(pipeline, random).map(({ status }) => status),
        model,
        JSON.stringify(pipeline.jobs),
      );
  }
});
