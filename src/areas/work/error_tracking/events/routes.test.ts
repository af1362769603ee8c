import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reports, thrown } from '../../../../../test/support/error_tracking.ts';
import { type World, world } from '../../../../../test/support/world.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const hex = (digit: string) => digit.repeat(32);

async function withSource(here: World): Promise<string> {
  const { status, body } = await here.as('maintainer').post(`/projects/${here.project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Begin',
    actions: [{ action: 'create', file_path: 'src/a b.js', content: 'fail()\n' }],
  });
  assert.equal(status, 201);
  await here.as('maintainer').post(`/projects/${here.project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  return body.id;
}

const frames = [
  { filename: 'webpack:///./src/a b.js', abs_path: '/app/a.js', function: 'run', lineno: 2, colno: 5 },
  {
    filename: 'src/none.js',
    function: 'fail',
    lineno: 10,
    pre_context: ['one', 'two'],
    context_line: 'three',
    post_context: ['four'],
  },
];

test('events are listed newest first and shown with their payload and the lines of their stack', async () => {
  const here = await world();
  const commit = await withSource(here);
  const { errors, report } = await reports(here);
  const event = (digit: string, release: string, minutes: number) => ({
    event_id: hex(digit),
    release,
    timestamp: ago(minutes),
    user: { id: 5, ip_address: '192.0.2.1' },
    exception: { values: [{ type: 'A', value: `a ${digit}`, stacktrace: { frames } }] },
  });
  await report(event('1', 'shop@v1', 30), event('2', commit, 20), event('3', 'main', 10));
  const [{ id, events_count }] = (await here.as('reporter').get(errors)).body;
  assert.equal(events_count, 3);
  const events = `${errors}/${id}/events`;
  const { body: listed, headers } = await here.as('reporter').get(events, { per_page: 2 });
  assert.deepEqual(
    listed.map((row: { event_id: string; description: string }) => [row.event_id, row.description]),
    [
      [hex('3'), 'a 3'],
      [hex('2'), 'a 2'],
    ],
  );
  assert.equal(headers.get('x-total'), '3');
  assert.equal('payload' in listed[0], false);
  assert.equal((await here.as('reporter').get(events, { per_page: 2, page: 2 })).body.length, 1);

  const shown = async (name: string) => (await here.as('reporter').get(`${events}/${name}`)).body;
  const latest = await shown('latest');
  assert.deepEqual(await shown(hex('3')), latest);
  assert.deepEqual(await shown(String(latest.id)), latest);
  assert.deepEqual(await shown('33333333-3333-3333-3333-333333333333'), latest);
  assert.deepEqual([latest.payload.release, latest.user.ip_address, latest.user_report], ['main', '192.0.2.1', null]);
  // A branch is no release.
  assert.deepEqual(
    latest.stack_trace_entries.map(({ source }: { source: unknown }) => source),
    [null, null],
  );
  assert.deepEqual(latest.stack_trace_entries[1], {
    source: null,
    blame: null,
    minified: null,
    lineNo: 10,
    colNo: null,
    filename: 'src/none.js',
    abs_path: null,
    function: 'fail',
    context: [
      [8, 'one'],
      [9, 'two'],
      [10, 'three'],
      [11, 'four'],
    ],
  });
  const sourceAt = (ref: string) => ({
    file_path: 'src/a b.js',
    ref,
    web_url: `http://coppice.test/${here.project.full_path}/-/blob/${ref}/src/a%20b.js#L2`,
  });
  const oldest = await shown('oldest');
  assert.deepEqual(oldest.stack_trace_entries[0].source, sourceAt('v1'));
  assert.deepEqual((await shown(hex('2'))).stack_trace_entries[0].source, sourceAt(commit));
  assert.equal(oldest.stack_trace_entries[1].source, null);

  const report_of = { name: 'A', email: 'a@example.org', comments: 'Broken', created_at: ago(1) };
  await here.db
    .updateTable('error_tracking_events')
    .set({ user_report: JSON.stringify(report_of) })
    .where('id', '=', oldest.id)
    .execute();
  assert.deepEqual((await shown('oldest')).user_report, report_of);
  for (const name of ['newest', '0', hex('9')]) {
    const none = await here.as('reporter').get(`${events}/${name}`);
    assert.deepEqual([none.status, none.body], [404, { message: '404 Not found' }], name);
  }
  for (const path of [events, `${events}/latest`]) assert.equal((await here.as('planner').get(path)).status, 403);
});

test('the code of a disabled repository is not linked', async () => {
  const here = await world();
  await withSource(here);
  const { errors, report } = await reports(here);
  await report(thrown('A', 'a', { release: 'v1', exception: { values: [{ type: 'A', stacktrace: { frames } }] } }));
  const [{ id }] = (await here.as('reporter').get(errors)).body;
  const entries = async () => (await here.as('reporter').get(`${errors}/${id}/events/latest`)).body.stack_trace_entries;
  assert.notEqual((await entries())[0].source, null);
  const off = { repository_access_level: 'disabled', merge_requests_access_level: 'disabled' };
  assert.equal((await here.as('owner').put(`/projects/${here.project.id}`, off)).status, 200);
  assert.deepEqual(
    (await entries()).map(({ source }: { source: unknown }) => source),
    [null, null],
  );
});
