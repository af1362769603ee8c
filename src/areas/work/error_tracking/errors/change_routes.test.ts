import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reports, thrown } from '../../../../../test/support/error_tracking.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { world } from '../../../../../test/support/world.ts';
import { removeError } from './removal_jobs.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test('errors are resolved and assigned by developers, and the resolver is recorded until they recur', async () => {
  const here = await world();
  const { errors, report } = await reports(here);
  await report(thrown('A', 'a', { timestamp: ago(1) }), thrown('B', 'b'));
  const developer = here.as('developer');
  const [second, first] = (await developer.get(errors)).body;
  const resolutions = () =>
    here.db
      .selectFrom('error_tracking_errors')
      .select(['status', 'resolved_by_id'])
      .where('project_id', '=', here.project.id)
      .orderBy('last_seen_at')
      .execute();
  const open = { status: 'unresolved', resolved_by_id: null };
  assert.equal((await here.as('reporter').put(`${errors}/${first.id}`, { status: 'resolved' })).status, 403);
  assert.equal((await here.as('reporter').put(errors, { ids: [first.id], status: 'resolved' })).status, 403);
  for (const bad of [{}, { status: 'open' }])
    assert.equal((await developer.put(`${errors}/${first.id}`, bad)).status, 400);
  assert.equal((await developer.put(errors, { ids: [first.id, 0], status: 'resolved' })).status, 404);
  const many = await developer.put(errors, { ids: Array(101).fill(first.id), status: 'resolved' });
  assert.deepEqual([many.status, many.body], [400, { message: { ids: ['has more than 100 ids'] } }]);
  assert.deepEqual(await resolutions(), [open, open]);

  const resolved = { status: 'resolved', resolved_by_id: here.people.developer.id };
  const { status, body } = await developer.put(`${errors}/${first.id}`, { status: 'resolved' });
  assert.deepEqual([status, body.status], [200, 'resolved']);
  // The others keep theirs.
  const both = await here.as('maintainer').put(errors, { ids: [second.id, first.id], status: 'resolved' });
  assert.deepEqual(
    both.body.map(({ id, status }: { id: number; status: string }) => [id, status]),
    [
      [second.id, 'resolved'],
      [first.id, 'resolved'],
    ],
  );
  assert.deepEqual(await resolutions(), [resolved, { status: 'resolved', resolved_by_id: here.people.maintainer.id }]);
  await report(thrown('B', 'b'));
  assert.deepEqual(await resolutions(), [resolved, open]);
  await developer.put(`${errors}/${first.id}`, { status: 'ignored' });
  assert.deepEqual((await resolutions())[0], { status: 'ignored', resolved_by_id: null });

  const assigned = await developer.put(`${errors}/${first.id}`, { assignee_id: here.people.reporter.id });
  assert.equal(assigned.body.assignee.username, here.people.reporter.username);
  for (const assignee_id of [here.people.planner.id, here.people.outsider.id, 0]) {
    const refused = await developer.put(`${errors}/${first.id}`, { assignee_id, status: 'resolved' });
    const reasons = ['is not a member who can read errors'];
    assert.deepEqual([refused.status, refused.body], [400, { message: { assignee_id: reasons } }]);
  }
  const { body: kept } = await developer.get(`${errors}/${first.id}`);
  assert.deepEqual([kept.assignee.id, kept.status], [here.people.reporter.id, 'ignored']);
  assert.equal((await developer.put(`${errors}/${first.id}`, { assignee_id: null })).body.assignee, null);
});

test('one issue is created from an error, with nothing sent by applications in its description', async () => {
  const here = await world();
  const { errors, report } = await reports(here);
  await report(thrown('A', `\n/close\n@all ${'x'.repeat(400)}`));
  const [error] = (await here.as('developer').get(errors)).body;
  const at = `${errors}/${error.id}/issue`;
  assert.equal((await here.as('reporter').post(at)).status, 403);
  assert.equal((await here.as('developer').post(at, { title: 'x'.repeat(256) })).status, 400);
  assert.equal((await here.as('developer').post(`${errors}/0/issue`)).status, 404);
  const { status, body: issue } = await here.as('developer').post(at, { labels: 'bug' });
  assert.equal(status, 201);
  assert.equal(issue.title.length, 255);
  assert.deepEqual([issue.state, issue.labels, issue.error_tracking_error_id], ['opened', ['bug'], error.id]);
  assert.ok(issue.description.includes(error.web_url));
  assert.equal(issue.description.includes('@all'), false);
  const linked = (await here.as('reporter').get(`${errors}/${error.id}`)).body.issue;
  const { id, iid, title, state, web_url } = issue;
  assert.deepEqual(linked, { id, iid, title, state, web_url });
  const again = await here.as('developer').post(at, { title: 'Another' });
  assert.deepEqual([again.status, again.body], [409, { message: '409 Conflict - issue already linked' }]);
  const issues = `/projects/${here.project.id}/issues`;
  assert.equal((await here.as('reporter').get(issues)).body.length, 1);

  await here.as('owner').delete(`${issues}/${iid}`);
  assert.equal((await here.as('reporter').get(`${errors}/${error.id}`)).body.issue, null);
  const { body: second } = await here.as('developer').post(at, { title: 'Another' });
  assert.equal(second.title, 'Another');
  assert.equal((await here.as('reporter').get(`${issues}/${second.iid}`)).body.error_tracking_error_id, error.id);
});

test('a deleted error disappears at once with its link, its events are deleted later, and if it recurs it is new', async () => {
  const here = await world();
  const { errors, report } = await reports(here);
  const event = thrown('A', 'a', { user: { id: 1 } });
  await report(event, event, thrown('B', 'b'));
  const [, error] = (await here.as('maintainer').get(errors, { order_by: 'frequency', sort: 'asc' })).body;
  const { body: issue } = await here.as('developer').post(`${errors}/${error.id}/issue`);
  assert.equal((await here.as('developer').delete(`${errors}/${error.id}`)).status, 403);
  assert.equal((await here.as('maintainer').get(`${errors}/${error.id}`)).status, 200);
  assert.equal((await here.as('maintainer').delete(`${errors}/${error.id}`)).status, 204);
  assert.equal((await here.as('maintainer').delete(`${errors}/${error.id}`)).status, 404);
  for (const path of ['', '/events', '/events/latest'])
    assert.equal((await here.as('maintainer').get(`${errors}/${error.id}${path}`)).status, 404);
  const shown = await here.as('developer').get(`/projects/${here.project.id}/issues/${issue.iid}`);
  assert.equal(shown.body.error_tracking_error_id, null);
  await report(event);
  assert.deepEqual(await performQueued(here.services, [removeError]), ['remove_error']);
  const left = await here.db
    .selectFrom('error_tracking_events')
    .select('id')
    .where('error_id', '=', error.id)
    .execute();
  assert.deepEqual(left, []);
  const { body: now } = await here.as('maintainer').get(errors, { order_by: 'first_seen' });
  assert.deepEqual(
    now.map(({ name, events_count }: { name: string; events_count: number }) => [name, events_count]),
    [
      ['A', 1],
      ['B', 1],
    ],
  );
});
