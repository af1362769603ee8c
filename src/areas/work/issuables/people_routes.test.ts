import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { type World, world } from '../../../../test/support/world.ts';

const pathOf = ({ project }: World, { iid }: { iid: number }) => `/projects/${project.id}/issues/${iid}`;

test('participants are subscribed to an issue until they unsubscribe', async () => {
  const here = await world();
  const { as } = here;
  const path = pathOf(here, await addIssue(here, {}, 'guest'));
  const post = async (persona: 'guest' | 'reporter', verb: string) =>
    (await as(persona).post(`${path}/${verb}`)).status;
  const received = async (persona: 'guest' | 'reporter') => (await as(persona).get(path)).body.subscribed;

  assert.equal(await received('guest'), true);
  assert.equal(await post('guest', 'subscribe'), 304);
  assert.equal(await post('guest', 'unsubscribe'), 201);
  assert.equal(await received('guest'), false);
  assert.equal(await post('guest', 'unsubscribe'), 304);
  assert.equal(await post('guest', 'subscribe'), 201);

  assert.equal(await received('reporter'), false);
  assert.equal(await post('reporter', 'unsubscribe'), 304);
  const { status, body } = await as('reporter').post(`${path}/subscribe`);
  assert.deepEqual([status, body.subscribed, body.iid], [201, true, 1]);
  assert.equal(await post('reporter', 'subscribe'), 304);
  assert.equal((await as('anonymous').post(`${path}/subscribe`)).status, 401);
  assert.equal((await as('outsider').post(`${path}/subscribe`)).status, 404);
  await as('planner').put(path, { description: `@${here.people.developer.username}` });
  assert.equal((await as('developer').get(path)).body.subscribed, true);
});

test('participants are the author, assignees, commenters and mentioned users who may read the issue', async () => {
  const here = await world();
  const { as, people } = here;
  const name = (persona: keyof typeof people) => `@${people[persona].username}`;
  const issue = await addIssue(
    here,
    { description: `${name('maintainer')} ${name('outsider')}`, assignee_ids: [people.planner.id] },
    'guest',
  );
  const path = pathOf(here, issue);
  await as('reporter').post(`${path}/notes`, { body: `Ask ${name('owner')}.` });
  await as('developer').put(path, { title: 'Only changed' });
  const usernames = async (parameters = {}) =>
    (await as('guest').get(`${path}/participants`, parameters)).body.map(
      ({ username }: { username: string }) => username,
    );
  const expected = (['guest', 'planner', 'reporter', 'maintainer', 'owner'] as const).map(
    (persona) => people[persona].username,
  );
  assert.deepEqual(await usernames(), expected);
  assert.deepEqual(await usernames({ page: 2, per_page: 2 }), expected.slice(2, 4));
});

test('user agent details are for administrators', async () => {
  const here = await world();
  const { as, project, db } = here;
  const headers = { 'user-agent': 'walk/1.0' };
  const { body } = await as('guest').post(`/projects/${project.id}/issues`, { title: 'x' }, { headers });
  const path = `${pathOf(here, body)}/user_agent_detail`;
  assert.deepEqual((await as('admin').get(path)).body, {
    user_agent: 'walk/1.0',
    ip_address: '127.0.0.1',
    akismet_submitted: false,
  });
  assert.equal((await as('owner').get(path)).status, 403);
  assert.equal((await as('anonymous').get(path)).status, 401);
  await db.deleteFrom('issue_user_agents').where('issue_id', '=', body.id).execute();
  const none = await as('admin').get(path);
  assert.deepEqual([none.status, none.body.message], [404, '404 UserAgentDetail Not Found']);
});
