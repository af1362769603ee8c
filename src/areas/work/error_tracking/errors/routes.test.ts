import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reports, thrown } from '../../../../../test/support/error_tracking.ts';
import { world } from '../../../../../test/support/world.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const namesOf = (list: { name: string }[]) => list.map(({ name }) => name);

test('errors are listed in every order, filtered, and searched by their texts', async () => {
  const here = await world();
  const { errors, report } = await reports(here);
  await report(
    thrown('SaveError', 'cannot save 100%', { timestamp: ago(50), transaction: 'orders#create', user: { id: 1 } }),
    thrown('SaveError', 'cannot save 100%', { timestamp: ago(10), release: 'v1', user: { id: 1 } }),
    thrown('LoadError', 'cannot load', { timestamp: ago(30), environment: 'staging', user: { id: 1 } }),
    thrown('LoadError', 'cannot load', { timestamp: ago(40), environment: 'staging', user: { id: 2 } }),
    thrown('LoadError', 'cannot load', { timestamp: ago(5), environment: 'staging', user: { id: 3 } }),
    { message: 'Disk is full', level: 'fatal', timestamp: ago(20) },
  );
  const reporter = here.as('reporter');
  const listed = async (query: object = {}) => {
    const { status, body } = await reporter.get(errors, query as Record<string, string>);
    assert.equal(status, 200, JSON.stringify(body));
    return namesOf(body);
  };
  assert.equal((await here.as('planner').get(errors)).status, 403);
  const all = ['LoadError', 'SaveError', 'Disk is full'];
  assert.deepEqual(await listed(), all);
  assert.deepEqual(await listed({ sort: 'asc' }), all.toReversed());
  assert.deepEqual(await listed({ order_by: 'first_seen' }), ['Disk is full', 'LoadError', 'SaveError']);
  assert.deepEqual(await listed({ order_by: 'frequency' }), all);
  assert.deepEqual(await listed({ order_by: 'users' }), all);
  assert.deepEqual(await listed({ environment: 'staging' }), ['LoadError']);
  assert.deepEqual(await listed({ environment: 'production' }), ['SaveError', 'Disk is full']);
  assert.deepEqual(await listed({ release: 'v1' }), ['SaveError']);
  assert.deepEqual(await listed({ level: 'fatal' }), ['Disk is full']);
  assert.deepEqual(await listed({ query: 'CANNOT' }), ['LoadError', 'SaveError']);
  assert.deepEqual(await listed({ query: '"save 100%"' }), ['SaveError']);
  assert.deepEqual(await listed({ query: 'full cannot' }), []);
  assert.deepEqual(await listed({ query: 'disk', level: 'error' }), []);
  assert.equal((await reporter.get(errors, { query: 'ab '.repeat(65) })).status, 400);
  assert.equal((await reporter.get(errors, { order_by: 'name' })).status, 400);

  const [first, save, disk] = (await reporter.get(errors)).body;
  const change = here.db.updateTable('error_tracking_errors');
  await change.set({ status: 'resolved' }).where('id', '=', disk.id).execute();
  await change.set({ status: 'ignored' }).where('id', '=', save.id).execute();
  assert.deepEqual(await listed(), ['LoadError']);
  assert.deepEqual(await listed({ status: 'resolved' }), ['Disk is full']);
  assert.deepEqual(await listed({ status: 'ignored' }), ['SaveError']);
  assert.deepEqual(await listed({ status: 'all', per_page: 2, page: 2 }), ['Disk is full']);
  const { first_seen_at, last_seen_at, fingerprint, ...rest } = first;
  assert.match(fingerprint, /^[0-9a-f]{32}$/);
  assert.ok(first_seen_at < last_seen_at);
  assert.deepEqual(rest, {
    id: first.id,
    name: 'LoadError',
    title: 'LoadError cannot load',
    description: 'cannot load',
    actor: 'LoadError',
    platform: 'other',
    level: 'error',
    status: 'unresolved',
    assignee: null,
    first_release: null,
    last_release: null,
    events_count: 3,
    users_count: 3,
    issue: null,
    web_url: `http://coppice.test/${here.project.full_path}/-/error_tracking/${first.id}/details`,
  });
  assert.equal(disk.title, 'Disk is full');
});

test('one error is shown with its latest event, tags and statistics', async () => {
  const here = await world();
  const { errors, report } = await reports(here);
  const many = Array.from({ length: 11 }, (_, index) =>
    thrown('A', 'b', { timestamp: ago(60 + index), tags: { n: index } }),
  );
  await report(...many, thrown('A', 'b', { release: 'v1', tags: { n: 3 }, user: { id: 7, email: 'a@example.org' } }));
  const [{ id }] = (await here.as('reporter').get(errors)).body;
  const { status, body } = await here.as('reporter').get(`${errors}/${id}`);
  assert.equal(status, 200);
  const { latest_event, tags, stats } = body;
  assert.deepEqual([latest_event.release, latest_event.environment, latest_event.error_id], ['v1', 'production', id]);
  assert.deepEqual(latest_event.user, {
    id: '7',
    username: null,
    email: 'a@example.org',
    ip_address: null,
    name: null,
  });
  assert.equal('payload' in latest_event, false);
  const values = new Map<string, { value: string; count: number }[]>(
    tags.map(({ key, values }: { key: string; values: [] }) => [key, values]),
  );
  assert.deepEqual(values.get('environment'), [{ value: 'production', count: 12 }]);
  assert.equal(values.get('n')!.length, 10);
  assert.deepEqual(values.get('n')![0], { value: '3', count: 2 });
  assert.deepEqual([stats['24h'].length, stats['30d'].length], [24, 30]);
  const sum = (counts: [number, number][]) => counts.reduce((total, [, count]) => total + count, 0);
  assert.deepEqual([sum(stats['24h']), sum(stats['30d'])], [12, 12]);
  assert.equal(stats['24h'][23][0] - stats['24h'][22][0], 3600);
  assert.equal(stats['30d'][29][0] % 86_400, 0);

  assert.equal((await here.as('planner').get(`${errors}/${id}`)).status, 403);
  const { body: other } = await here.as('owner').post('/projects', { name: `other-${here.project.path}` });
  const elsewhere = await here.as('owner').get(`/projects/${other.id}/error_tracking/errors/${id}`);
  assert.deepEqual([elsewhere.status, elsewhere.body], [404, { message: '404 Not found' }]);
});
