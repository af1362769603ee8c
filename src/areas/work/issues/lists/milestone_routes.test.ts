import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../../test/support/world.ts';

const titles = (answer: { body: { title: string }[] }) => answer.body.map(({ title }) => title);

test('a milestone lists the issues that the caller may read, with their positions', async () => {
  const { as, project, group } = await world();
  const base = `/projects/${project.id}`;
  const milestone = (await as('planner').post(`${base}/milestones`, { title: 'v1' })).body;
  const above = (await as('planner').post(`/groups/${group.id}/milestones`, { title: 'v2' })).body;
  const add = (title: string, milestone_id?: number, confidential = false) =>
    as('planner').post(`${base}/issues`, { title, confidential, ...(milestone_id ? { milestone_id } : {}) });
  await add('one', milestone.id);
  await add('two', milestone.id);
  await add('secret', milestone.id, true);
  await add('three', above.id);
  await add('loose');

  const url = `${base}/milestones/${milestone.id}/issues`;
  assert.deepEqual(titles(await as('planner').get(url)), ['secret', 'two', 'one']);
  const listed = await as('guest').get(url);
  assert.deepEqual(titles(listed), ['two', 'one']);
  assert.equal(listed.body[0].references.relative, '#2');
  assert.deepEqual(listed.body[0].milestone, milestone);
  assert.deepEqual(titles(await as('guest').get(url, { per_page: 1, page: 2 })), ['one']);
  const inGroup = await as('guest').get(`/groups/${group.id}/milestones/${above.id}/issues`);
  assert.deepEqual(titles(inGroup), ['three']);
  assert.equal(inGroup.body[0].references.relative, `${project.full_path}#4`);

  assert.equal((await as('guest').get(`${base}/milestones/${above.id}/issues`)).status, 404);
  assert.equal((await as('guest').get(`/groups/${group.id}/milestones/${milestone.id}/issues`)).status, 404);
  assert.equal((await as('anonymous').get(url)).status, 401);
  assert.equal((await as('outsider').get(url)).status, 404);
  await as('owner').put(base, { issues_access_level: 'disabled' });
  assert.equal((await as('guest').get(url)).status, 403);
  assert.deepEqual((await as('guest').get(`/groups/${group.id}/milestones/${above.id}/issues`)).body, []);
});
