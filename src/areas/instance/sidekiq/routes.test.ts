import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pino from 'pino';
import { testDatabase } from '../../../../test/support/database.ts';
import { populate, startServer } from '../../../../test/support/populate.ts';
import { world } from '../../../../test/support/world.ts';
import { job, startWorker } from '../../../jobs/index.ts';

const silent = pino({ level: 'silent' });

test('administrators see waiting jobs, workers and the outcomes of jobs', async (t) => {
  const { db, connectionString } = await testDatabase();
  const server = await startServer(db, {});
  t.after(server.stop);
  const { as, services } = await populate(server);
  const admin = as('admin');
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const jobs = [
    job('test_done', { input: {}, retries: 0, run: async () => {} }),
    job('test_failing', { input: {}, retries: 0, run: () => Promise.reject(new Error('no')) }),
    job('test_long', {
      input: {},
      retries: 0,
      run: () => {
        begun.resolve();
        return end.promise;
      },
    }),
  ];
  const [done, failing, long] = jobs as [(typeof jobs)[0], (typeof jobs)[0], (typeof jobs)[0]];
  await done.enqueue(db, {});
  await done.enqueue(db, {});
  await done.enqueue(db, {}, { after_s: 3600 });
  await sql`update graphile_worker._private_jobs set run_at = now() - interval '1 minute' where run_at <= now()`.execute(
    db,
  );

  const waiting = (await admin.get('/sidekiq/compound_metrics')).body;
  assert.deepEqual([waiting.processes, waiting.jobs], [[], { processed: 0, failed: 0, enqueued: 2, dead: 0 }]);
  assert.equal(waiting.queues.test_done.backlog, 2);
  assert.ok(waiting.queues.test_done.latency >= 60 && waiting.queues.test_done.latency < 600);

  await failing.enqueue(db, {});
  await long.enqueue(db, {});
  const start = () => startWorker({ connectionString, jobs, services, log: silent, concurrency: 2 });
  const worker = await start();
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await worker.stop(5000);
    isStopped = true;
  };
  t.after(stop);
  await begun.promise;
  const { processes } = (await admin.get('/sidekiq/process_metrics')).body;
  assert.equal(processes.length, 1);
  const { started_at, busy, ...process_shown } = processes[0];
  assert.ok(busy >= 1 && Date.parse(started_at) <= Date.now());
  assert.deepEqual(process_shown, {
    hostname: hostname(),
    pid: process.pid,
    tag: 'coppice',
    queues: ['test_done', 'test_failing', 'test_long'],
    labels: [],
    concurrency: 2,
  });
  const backlog = async () => (await admin.get('/sidekiq/job_stats')).body.jobs.enqueued;
  while ((await backlog()) > 0) await sleep(10);
  end.resolve();
  await stop();

  const { jobs: counted } = (await admin.get('/sidekiq/job_stats')).body;
  assert.deepEqual(counted, { processed: 4, failed: 1, enqueued: 0, dead: 1 });
  assert.deepEqual((await admin.get('/sidekiq/process_metrics')).body, { processes: [] });
  const { queues } = (await admin.get('/sidekiq/queue_metrics')).body;
  assert.deepEqual(queues.default, { backlog: 0, latency: 0 });
  assert.deepEqual([queues.test_done, queues.test_long], Array(2).fill({ backlog: 0, latency: 0 }));
});

test('only administrators see them', async () => {
  const { as } = await world({});
  for (const name of ['queue_metrics', 'process_metrics', 'job_stats', 'compound_metrics']) {
    assert.equal((await as('anonymous').get(`/sidekiq/${name}`)).status, 401);
    const refused = await as('owner').get(`/sidekiq/${name}`);
    assert.deepEqual([refused.status, refused.body], [403, { message: '403 Forbidden' }]);
    assert.equal((await as('admin').get(`/sidekiq/${name}`)).status, 200);
  }
});
