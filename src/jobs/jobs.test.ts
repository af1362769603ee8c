import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import pino from 'pino';
import { Type } from 'typebox';
import { testDatabase } from '../../test/support/database.ts';
import { prepareData } from '../../test/support/prepared_data.ts';
import { diskBlobs } from '../blobs/index.ts';
import { startEmbedded } from '../db/embedded.ts';
import { connect, type Database } from '../db/index.ts';
import { migrate } from '../db/migrate.ts';
import { noSignInFile } from '../identity_providers/index.ts';
import { secretsFrom } from '../secrets/index.ts';
import { showPresence } from './alive.ts';
import { type AnyJob, Ended, job, peerQueueOf, startWorker } from './index.ts';

const log = pino({ level: 'silent' });
const unused = {
  repositories: { kinds: [], followers: [] },
  emptying: [],
  stored_files: [],
  hook_events: [],
  mail_targets: [],
  secrets: secretsFrom('k'.repeat(32)),
  licensePublicKey: undefined,
  geo: { role: undefined, nodeName: 'http://localhost', primaryUrl: undefined, databaseUrl: undefined },
  sign_in: noSignInFile,
  askDirectories: async () => undefined,
  followGroups: async () => {},
  mailer: { send: async () => {} },
};

async function workerFor(t: TestContext, jobs: AnyJob[]) {
  const { db, connectionString } = await testDatabase();
  const worker = await startWorker({
    connectionString,
    jobs,
    services: {
      db,
      url: 'http://localhost',
      ssh_url: 'git@localhost:',
      storages: {},
      blobs: diskBlobs('/nonexistent'),
      downloads: '/nonexistent',
      ...unused,
    },
    log,
    concurrency: 2,
  });
  let isStopped = false;
  const stop = async (patience_ms: number) => {
    if (!isStopped) await worker.stop(patience_ms);
    isStopped = true;
  };
  t.after(() => stop(1000));
  return { db, stop };
}

interface Row {
  task: string;
  attempts: number;
  max_attempts: number;
  is_locked: boolean;
}

const queued = async (db: Database, name: string) =>
  (
    await sql<Row>`select task_identifier as task, attempts, max_attempts, locked_at is not null as is_locked
      from graphile_worker.jobs where task_identifier = ${name}`.execute(db)
  ).rows;

async function isWaitedFor(db: Database, table: string): Promise<boolean> {
  const { rows } = await sql`select from pg_locks where not granted and relation = ${table}::regclass`.execute(db);
  return rows.length > 0;
}

test('a job runs after the commit that needs it, and not at all after a rollback', async (t) => {
  const seen: number[] = [];
  const done = Promise.withResolvers<void>();
  const count = job('test_count', {
    input: { number: Type.Integer() },
    retries: 0,
    run: async ({ input }) => {
      seen.push(input.number);
      done.resolve();
    },
  });
  const { db } = await workerFor(t, [count]);
  const rolledBack = db.transaction().execute(async (tx) => {
    await count.enqueue(tx, { number: 1 });
    throw new Error('no');
  });
  await assert.rejects(rolledBack, /no/);
  await db.transaction().execute((tx) => count.enqueue(tx, { number: 2 }));
  await done.promise;
  assert.deepEqual(seen, [2]);
});

test('a waiting job with the same key is replaced', async () => {
  const { db } = await testDatabase();
  const tidy = job('test_tidy', { input: { id: Type.Integer() }, retries: 2, run: async () => {} });
  await tidy.enqueue(db, { id: 1 }, { key: 'one' });
  await tidy.enqueue(db, { id: 2 }, { key: 'one' });
  await tidy.enqueue(db, { id: 3 }, { key: 'two' });
  const rows = await queued(db, 'test_tidy');
  assert.equal(rows.length, 2);
  assert.equal(rows[0]?.max_attempts, 3);
});

test('a waiting job keeps its time when it is replaced, and runs at once on request', async () => {
  const { db } = await testDatabase();
  const patient = job('test_patient', { input: { id: Type.Integer() }, retries: 2, run: async () => {} });
  const waiting = async () => {
    const { rows } = await sql<{ run_at: string; id: number; waits: boolean }>`
      select run_at::text, (payload->>'id')::int as id, run_at > now() + interval '30 seconds' as waits
        from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
       where tasks.identifier = 'test_patient'`.execute(db);
    return rows;
  };
  await patient.enqueue(db, { id: 1 }, { key: 'one', after_s: 60 });
  const [first] = await waiting();
  assert.equal(first!.waits, true);
  await patient.enqueue(db, { id: 2 }, { key: 'one', after_s: 90 });
  assert.deepEqual(await waiting(), [{ ...first, id: 2 }]);
  await patient.enqueue(db, { id: 3 }, { key: 'one' });
  assert.deepEqual(
    (await waiting()).map(({ id, waits }) => [id, waits]),
    [[3, false]],
  );
});

test('a job that waits for its time is left alone when it is enqueued again, and cannot begin before that is committed', async () => {
  const { db } = await testDatabase();
  const calm = job('test_calm', { input: { id: Type.Integer() }, retries: 2, run: async () => {} });
  const isCalm = sql`task_id = (select id from graphile_worker._private_tasks where identifier = 'test_calm')`;
  const waiting = async (lock = sql``) => {
    const { rows } =
      await sql`select revision, attempts from graphile_worker._private_jobs where ${isCalm} ${lock}`.execute(db);
    return rows;
  };
  const enqueue = (tx = db) => calm.enqueue(tx, { id: 1 }, { key: 'one', after_s: 60 });
  await enqueue();
  await db.transaction().execute(async (tx) => {
    await enqueue(tx);
    assert.deepEqual(await waiting(sql`for update skip locked`), []);
  });
  assert.deepEqual(await waiting(sql`for update skip locked`), [{ revision: 0, attempts: 0 }]);
  await sql`update graphile_worker._private_jobs set attempts = 1 where ${isCalm}`.execute(db);
  await enqueue();
  assert.deepEqual(await waiting(), [{ revision: 1, attempts: 0 }]);
});

test('a job that a stop interrupts returns to the queue, which goes on, and the attempt does not count', async (t) => {
  const began = Promise.withResolvers<void>();
  const endless = job('test_endless', {
    input: {},
    retries: 0,
    run: ({ signal }) => {
      began.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));
    },
  });
  const { db, stop } = await workerFor(t, [endless]);
  await endless.enqueue(db, {}, { queue: 'endless' });
  await began.promise;
  assert.equal((await queued(db, 'test_endless'))[0]?.is_locked, true);
  await stop(0);
  const { rows } =
    await sql`select is_available from graphile_worker._private_job_queues where queue_name = 'endless'`.execute(db);
  assert.deepEqual(rows, [{ is_available: true }]);
  assert.deepEqual(await queued(db, 'test_endless'), [
    { task: 'test_endless', attempts: 0, max_attempts: 1, is_locked: false },
  ]);
});

test('a job that arrives while the worker stops returns to the queue without being started', async (t) => {
  const began = Promise.withResolvers<void>();
  const cutOff = Promise.withResolvers<void>();
  let runs = 0;
  const late = job('test_late', {
    input: {},
    retries: 0,
    run: ({ signal }) => {
      runs += 1;
      began.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          reject(new Error('cut off'));
          cutOff.resolve();
        }),
      );
    },
  });
  const { db, stop } = await workerFor(t, [late]);
  await late.enqueue(db, {});
  await began.promise;
  const stopped = await db.transaction().execute(async (tx) => {
    await sql`lock table graphile_worker._private_jobs in share row exclusive mode`.execute(tx);
    await late.enqueue(tx, {});
    while (!(await isWaitedFor(db, 'graphile_worker._private_jobs')))
      await sql`select pg_notify('jobs:insert', '{"count": 2}')`.execute(db);
    const stopped = stop(0);
    await cutOff.promise;
    return { stopped };
  });
  await stopped.stopped;
  const waiting = { task: 'test_late', attempts: 0, max_attempts: 1, is_locked: false };
  assert.deepEqual(await queued(db, 'test_late'), [waiting, waiting]);
  assert.equal(runs, 1);
});

test('a job whose worker was killed is run by another one, even on its last attempt', async (t) => {
  const done = Promise.withResolvers<void>();
  const left = job('test_left', { input: {}, retries: 1, run: async () => done.resolve() });
  const { db } = await testDatabase();
  await left.enqueue(db, {});
  await sql`update graphile_worker._private_jobs set locked_at = now() - interval '1 minute', locked_by = 'pool-of-the-dead', attempts = max_attempts
    where task_id = (select id from graphile_worker._private_tasks where identifier = 'test_left')`.execute(db);
  const worker = await workerFor(t, [left]);
  await done.promise;
  await worker.stop(5000);
  assert.deepEqual(await queued(db, 'test_left'), []);
});

test('a long job stays with its worker while that is alive', async (t) => {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const long = job('test_long', {
    input: {},
    retries: 3,
    run: async () => {
      runs += 1;
      began.resolve();
      await release.promise;
    },
  });
  const first = await workerFor(t, [long]);
  await long.enqueue(first.db, {});
  await began.promise;
  await sql`update graphile_worker._private_jobs set locked_at = now() - interval '1 hour' where locked_by is not null`.execute(
    first.db,
  );
  await workerFor(t, [long]); // looks for jobs of the dead before it is ready
  assert.equal((await queued(first.db, 'test_long'))[0]?.is_locked, true);
  release.resolve();
  await first.stop(5000);
  assert.equal(runs, 1);
});

test('a failed job waits for its next attempt, with the reason', async (t) => {
  const failed = Promise.withResolvers<void>();
  const broken = job('test_broken', {
    input: {},
    retries: 1,
    run: async () => {
      failed.resolve();
      throw new Error('the disk is full');
    },
  });
  const { db, stop } = await workerFor(t, [broken]);
  await broken.enqueue(db, {});
  await failed.promise;
  await stop(5000);
  const { rows } = await sql`select attempts, last_error, run_at > now() as waits from graphile_worker.jobs
    where task_identifier = 'test_broken'`.execute(db);
  assert.deepEqual(rows, [{ attempts: 1, last_error: 'the disk is full', waits: true }]);
});

test('a job that another one replaces is not counted as failed', async (t) => {
  const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const replaced = Promise.withResolvers<void>();
  let runs = 0;
  const shaky = job('test_shaky', {
    input: {},
    retries: 0,
    run: async () => {
      const isFirst = runs === 0;
      began[runs++]!.resolve();
      await replaced.promise;
      if (isFirst) throw new Error('the disk is full');
    },
  });
  const { db, stop } = await workerFor(t, [shaky]);
  await shaky.enqueue(db, {}, { key: 'one' });
  await began[0]!.promise;
  await shaky.enqueue(db, {}, { key: 'one' });
  replaced.resolve();
  await began[1]!.promise;
  await stop(5000);
  assert.deepEqual(await queued(db, 'test_shaky'), []);

  await shaky.enqueue(db, {}, { key: 'one' });
  const isShaky = sql`task_id = (select id from graphile_worker._private_tasks where identifier = 'test_shaky')`;
  await sql`update graphile_worker._private_jobs set attempts = max_attempts where ${isShaky}`.execute(db);
  await shaky.enqueue(db, {}, { key: 'one' });
  const left = await queued(db, 'test_shaky');
  assert.deepEqual(
    left,
    [{ task: 'test_shaky', attempts: 0, max_attempts: 1, is_locked: false }],
    'one that failed for good',
  );
});

test('a scheduled job that has run makes up for those that failed before', async (t) => {
  const nightly = job('test_nightly', { input: {}, retries: 0, schedule: '0 0 1 1 *', run: async () => {} });
  const { db, stop } = await workerFor(t, []);
  await stop(0);
  await nightly.enqueue(db, {});
  await sql`update graphile_worker._private_jobs set attempts = max_attempts
    where task_id = (select id from graphile_worker._private_tasks where identifier = 'test_nightly')`.execute(db);
  await nightly.enqueue(db, {}, { key: 'next' });
  assert.equal((await queued(db, 'test_nightly')).length, 2);
  const worker = await workerFor(t, [nightly]);
  while ((await queued(db, 'test_nightly')).length > 0);
  await worker.stop(5000);
});

test('a job that ends while the database is away is recorded as done when it is back', async (t) => {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-jobs-'));
  await prepareData(data);
  const restarted = Promise.withResolvers<string>();
  const database = await startEmbedded(data, { use: 'exclusive', durable: false, onRestart: restarted.resolve });
  t.after(async () => {
    await database.stop();
    await rm(data, { recursive: true });
  });
  const { connectionString } = database;
  await migrate(connectionString);
  const db = connect({ connectionString, max: 2 });
  let runs = 0;
  const fatal = job('test_fatal', {
    input: {},
    retries: 3,
    run: async () => {
      runs += 1;
      process.kill(
        Number((await readFile(path.join(data, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]),
        'SIGKILL',
      );
      // The connection of the queue is lost, too, when this one is.
      while ((await sql`select pg_sleep(0.01)`.execute(db).catch(() => undefined)) !== undefined);
    },
  });
  const services = {
    db,
    url: 'http://localhost',
    ssh_url: 'git@localhost:',
    storages: {},
    blobs: diskBlobs('/nonexistent'),
    downloads: '/nonexistent',
    ...unused,
  };
  const worker = await startWorker({ connectionString, jobs: [fatal], services, log, concurrency: 1 });
  await fatal.enqueue(db, {});
  await restarted.promise;
  while ((await queued(db, 'test_fatal').catch(() => [undefined])).length > 0);
  assert.equal(runs, 1);
  await worker.stop(5000);
  await db.destroy();
});

test('invalid jobs are refused when they are declared or started', async (t) => {
  assert.throws(
    () => job('test_bad', { input: { id: Type.Integer() }, retries: 0, schedule: '0 3 * * *', run: async () => {} }),
    /schedule/,
  );
  const nightly = job('test_nightly', { input: {}, retries: 0, schedule: '0 3 * * *', run: async () => {} });
  await assert.rejects(workerFor(t, [nightly, nightly]), /same name/);
  await (await workerFor(t, [nightly])).stop(1000);
});

test('a person has so many places for jobs with a peer, others have theirs, and jobs without one never wait for them', async (t) => {
  const begun: number[] = [];
  const end: Record<number, () => void> = {};
  const done: string[] = [];
  const declared = { input: { id: Type.Integer() }, retries: 0, peer: { per_person: 2 } };
  const slow = peerQueueOf('test_slow', declared);
  const running = slow.runBy({
    confirm: async () => {},
    run: ({ input }) =>
      new Promise((resolve) => {
        begun.push(input.id);
        end[input.id] = resolve;
      }),
  });
  const quick = job('test_quick', { input: {}, retries: 0, run: async () => void done.push('quick') });
  const { db } = await workerFor(t, [running, quick]);
  for (let id = 1; id <= 6; id++) await slow.enqueue(db, { id }, { person: 1, id });
  await slow.enqueue(db, { id: 7 }, { person: 2, id: 7 });
  await quick.enqueue(db, {});
  while (begun.length < 3 || done.length < 1) await turn(10);
  assert.deepEqual(begun.toSorted(), [1, 2, 7]);
  for (let id = 1; id <= 7; id++) {
    while (!end[id]) await turn(10);
    end[id]!();
  }
});

test('a run ends when what it is for is gone, and is not tried again', async (t) => {
  let isGone = false;
  const ended: string[] = [];
  const watched = peerQueueOf('test_watched', { input: {}, retries: 3, peer: { per_person: 1 } }).runBy({
    confirm: async () => {
      if (isGone) throw new Ended('It was deleted.');
    },
    run: ({ signal }) =>
      new Promise((_resolve, reject) => {
        isGone = true;
        signal.addEventListener('abort', () => {
          ended.push(signal.reason.message);
          reject(signal.reason);
        });
      }),
  });
  const { db } = await workerFor(t, [watched]);
  await watched.enqueue(db, {});
  while (ended.length === 0 || (await queued(db, 'test_watched')).length > 0) await turn(20);
  assert.deepEqual(ended, ['It was deleted.']);
});

test('a queue that a worker has locked without a job is free again', async () => {
  const { db, connectionString } = await testDatabase();
  const worker = 'with a lost job';
  await sql`
    insert into graphile_worker._private_job_queues (queue_name, locked_by, locked_at)
    values ('lost', ${worker}, now() - interval '1 minute'), ('kept', 'another', now() - interval '1 minute')`.execute(
    db,
  );
  const presence = await showPresence({
    ...{ connectionString, worker, facts: { hostname: 'localhost', pid: 1, concurrency: 0, jobs: [] } },
    takeRuns: () => ({ processed: 0, failed: 0 }),
    returnRuns: () => {},
    running: () => [],
    onError: assert.fail,
  });
  await presence.end();
  const { rows } = await sql`
    select queue_name, locked_by from graphile_worker._private_job_queues where queue_name in ('lost', 'kept') order by 1`.execute(
    db,
  );
  assert.deepEqual(rows, [
    { queue_name: 'kept', locked_by: 'another' },
    { queue_name: 'lost', locked_by: null },
  ]);
});
