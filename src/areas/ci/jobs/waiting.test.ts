import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { waitingIn } from './waiting_actions.ts';

const cursorOf = ({ headers }: { headers: Headers }) => headers.get('x-gitlab-last-update')!;

/** A project without jobs, and a runner that knows its cursor. */
async function waiting(settings = {}) {
  const here = await built('build: {script: make}');
  const runner = await runnerOf(here, settings);
  const start = () => sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }));
  const ask = (last_update: string) => runner.request({ last_update });
  const held = async (count: number) => {
    while (waitingIn(here.db) !== count) await nextTurn();
  };
  return { ...here, runner, start, ask, held, cursor: cursorOf(await runner.request()) };
}

test('a request with the cursor in force waits until a job comes', async () => {
  const { runner, start, ask, held, cursor } = await waiting();
  const request = ask(cursor);
  await held(1);
  await start();
  const reply = await request;
  assert.equal(reply.status, 201);
  assert.equal(reply.body.job_info.name, 'build');
  await held(0);
  assert.equal((await runner.held(reply.body).end('success')).status, 200);
});

test('requests without a cursor or with another one are answered at once', async () => {
  const { runner, ask, cursor } = await waiting();
  const replies = [await runner.request(), await ask('1'), await ask('')];
  assert.deepEqual(
    replies.map((reply) => [reply.status, cursorOf(reply)]),
    replies.map(() => [204, cursor]),
  );
});

test('a request that waits is answered when its runner changes, and a paused runner does not wait', async () => {
  const { as, runner, ask, held, cursor } = await waiting();
  const request = ask(cursor);
  await held(1);
  await sent(as('maintainer').put(`/runners/${runner.id}`, { tag_list: 'linux' }));
  const reply = await request;
  assert.equal(reply.status, 204);
  assert.notEqual(cursorOf(reply), cursor);
  const next = ask(cursorOf(reply));
  await held(1);
  await sent(as('maintainer').put(`/runners/${runner.id}`, { paused: true }));
  assert.equal((await next).status, 204);
  assert.equal((await ask(cursorOf(await next))).status, 204);
  await sent(as('maintainer').put(`/runners/${runner.id}`, { paused: false }));
  const last = ask(cursorOf(await runner.request()));
  await held(1);
  assert.equal((await as('maintainer').delete(`/runners/${runner.id}`)).status, 204);
  assert.equal((await last).status, 403);
});

test('two requests of a machine wait; a third one takes the place of the oldest', async () => {
  const { start, ask, held, cursor } = await waiting();
  const oldest = ask(cursor);
  await held(1);
  const second = ask(cursor);
  await held(2);
  const third = ask(cursor);
  assert.equal((await oldest).status, 204);
  await held(2);
  await start();
  await start();
  assert.deepEqual([(await second).status, (await third).status], [201, 201]);
});

test('a job that a runner may not take leaves its request waiting', async () => {
  const here = await waiting({ tag_list: 'linux', run_untagged: false });
  const other = await runnerOf(here);
  const request = here.ask(here.cursor);
  await here.held(1);
  const next = other.request({ last_update: cursorOf(await other.request()) });
  await here.held(2);
  await here.start();
  assert.equal((await next).status, 201);
  await here.held(1);
  await sent(here.as('maintainer').put(`/runners/${here.runner.id}`, { run_untagged: true }));
  assert.equal((await request).status, 204);
});

test('a request is forgotten when its client has gone', async () => {
  const { url, runner, held, cursor } = await waiting();
  const leaving = new AbortController();
  const body = JSON.stringify({ token: runner.token, system_id: 's_1', last_update: cursor });
  const headers = { 'content-type': 'application/json' };
  const request = fetch(`${url}/api/v4/jobs/request`, { method: 'POST', headers, body, signal: leaving.signal });
  await held(1);
  leaving.abort();
  await assert.rejects(request);
  await held(0);
});

test('no request waits when administrators say so', async (t) => {
  const { as, runner, ask, cursor } = await waiting();
  await sent(as('admin').put('/application/settings', { ci_long_poll_seconds: 0 }));
  t.after(() => sent(as('admin').put('/application/settings', { ci_long_poll_seconds: 20 })));
  assert.equal((await ask(cursor)).status, 204);
  const wrong = await as('admin').put('/application/settings', { ci_long_poll_seconds: 51 });
  assert.equal(wrong.status, 400);
  assert.equal((await runner.request()).status, 204);
});

test('a request that is told of a job while somebody has it locked gets it afterwards', async () => {
  const { db, runner, ask, held, cursor, start, jobsOf } = await waiting();
  const { id } = await start();
  const first = (await runner.take())!;
  const { build } = await jobsOf(id);
  const request = ask(cursor);
  await held(1);
  const back = { status: 'pending', runner_id: null };
  await db.updateTable('commit_statuses').set(back).where('id', '=', build!.id).execute();
  await db.transaction().execute(async (tx) => {
    const row = tx.selectFrom('commit_statuses').select('id').where('id', '=', build!.id);
    await row.forUpdate().execute();
    await sql`select pg_notify('ci_queue', '')`.execute(db);
    // As long as it takes to look and to find nothing.
    await db.selectFrom('commit_statuses').select('id').where('status', '=', 'pending').execute();
  });
  assert.equal((await request).body.id, first.id);
});

test('a request goes on waiting when the connection is lost that listens for it', async () => {
  const { db, ask, held, cursor, start } = await waiting();
  const request = ask(cursor);
  await held(1);
  const { rows } = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen "ci_queue"'`.execute(
    db,
  );
  assert.ok(rows.length > 0);
  await start();
  assert.equal((await request).status, 201);
});
