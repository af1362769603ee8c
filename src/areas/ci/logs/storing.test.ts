import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { storeEndedLogs } from './jobs.ts';
import { logOf, readLog } from './queries.ts';

/** A job that a runner holds, and what stores the logs of jobs that have ended. */
async function running() {
  const here = await built('build: {script: make}');
  const { as, at, db, services } = here;
  await sent(as('maintainer').post(`${at}/variables`, { key: 'PASSWORD', value: 'swordfish12', masked: true }));
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const build = (await (await runnerOf(here)).take())!;
  const url = `${at}/jobs/${build.id}`;
  const pieces = () => db.selectFrom('job_log_pieces').selectAll().where('job_id', '=', build.id).execute();
  async function store() {
    const earlier = { ended_at: '2026-01-01T00:00:00Z' };
    await db
      .updateTable('job_runs')
      .set(earlier)
      .where('job_id', '=', build.id)
      .where('ended_at', 'is not', null)
      .execute();
    await performJob(services, storeEndedLogs);
  }
  return { ...here, build, url, pieces, store };
}

test('the log of a job that has ended becomes a blob, and reads as before', async () => {
  const { as, build, url, pieces, store, db, services } = await running();
  await build.append('one\n');
  await build.append('two\n');
  await store();
  assert.equal((await pieces()).length, 2);
  const growing = (await logOf(db, build.id))!;
  await build.end('success');
  await store();
  assert.deepEqual(await pieces(), []);
  const { kept_size, blob_key } = (await logOf(db, build.id))!;
  assert.equal((await services.blobs.stat(blob_key!))!.size_bytes, kept_size);
  const read = (query = '') => as('developer').get(`${url}/trace${query}`);
  assert.equal((await read()).body, 'one\ntwo\n');
  assert.equal((await read('?last_bytes=3')).body, 'wo\n');
  // Who began to read it in pieces goes on.
  const rest = await Array.fromAsync(await readLog(services, growing, { start: 2, end: 5 }));
  assert.equal(Buffer.concat(rest as Buffer[]).toString(), 'e\ntw');
});

test('a part of a log is sent, also while it grows', async () => {
  const { as, build, url, store } = await running();
  await build.append('one\n');
  await build.append('two\n');
  const part = async () => {
    const { status, body, headers } = await as('developer').get(
      `${url}/trace`,
      {},
      { headers: { range: 'bytes=2-5' } },
    );
    return [status, body, headers.get('content-range')];
  };
  assert.deepEqual(await part(), [206, 'e\ntw', 'bytes 2-5/8']);
  const beyond = await as('developer').get(`${url}/trace`, {}, { headers: { range: 'bytes=8-' } });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */8']);
  await build.end('success');
  await store();
  assert.deepEqual(await part(), [206, 'e\ntw', 'bytes 2-5/8']);
});

test('what was held back of the log of a cancelled job is stored', async () => {
  const { as, build, url, store } = await running();
  await build.append('the password is sword');
  await sent(as('maintainer').post(`${url}/cancel`));
  await build.end('failed');
  await store();
  assert.equal((await as('developer').get(`${url}/trace`)).body, 'the password is sword');
});

test('erasing a job deletes the blob of its log at once', async () => {
  const { as, build, url, store, db, services } = await running();
  await build.append('one\n');
  await build.end('success');
  await store();
  const { blob_key } = (await logOf(db, build.id))!;
  await sent(as('maintainer').post(`${url}/erase`));
  assert.equal(await services.blobs.stat(blob_key!), undefined);
  assert.equal((await as('developer').get(`${url}/trace`)).body, null);
});

test('a runner sends its log more often while somebody reads it', async () => {
  const { as, build, url } = await running();
  const interval = async (text: string) => (await build.append(text)).headers.get('x-gitlab-trace-update-interval');
  assert.equal(await interval('one\n'), '10');
  await as('developer').get(`${url}/trace`);
  assert.equal(await interval('two\n'), '3');
});
