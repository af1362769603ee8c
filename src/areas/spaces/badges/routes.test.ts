import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

const link_url = 'https://builds.example/%{project_path}?at=%{unknown}';
const image_url = 'https://%{gitlab_server}/%{project_id}.svg';

test('a project shows the badges of its groups and then its own, with their placeholders filled', async () => {
  const { as, project, group } = await world();
  const [ofProject, ofGroup] = [`/projects/${project.id}/badges`, `/groups/${group.id}/badges`];
  const own = await as('maintainer').post(ofProject, { link_url, image_url, name: 'Builds' });
  const rendered = {
    rendered_link_url: `https://builds.example/${project.full_path}?at=%{unknown}`,
    rendered_image_url: `https://coppice.test/${project.id}.svg`,
  };
  assert.deepEqual(
    [own.status, own.body],
    [201, { id: own.body.id, name: 'Builds', link_url, image_url, ...rendered, kind: 'project' }],
  );
  const shared = await sent(as('owner').post(ofGroup, { link_url, image_url }));
  assert.deepEqual(shared, { id: shared.id, name: null, link_url, image_url, ...rendered, kind: 'group' });
  assert.deepEqual((await as('guest').get(ofProject)).body, [shared, own.body]);
  assert.deepEqual((await as('guest').get(ofProject, { name: 'Builds' })).body, [own.body]);
  assert.deepEqual((await as('guest').get(ofGroup)).body, [shared]);
  assert.deepEqual((await as('guest').get(`${ofProject}/${shared.id}`)).body, shared);

  const changed = await as('maintainer').put(`${ofProject}/${own.body.id}`, { link_url: 'http://a.example' });
  assert.deepEqual(changed.body, {
    ...own.body,
    link_url: 'http://a.example',
    rendered_link_url: 'http://a.example',
  });
  assert.deepEqual((await as('maintainer').put(`${ofProject}/${own.body.id}`)).body, changed.body);
  const asked = { link_url: 'https://a.example/%{project_title}', image_url };
  const shown = await as('maintainer').get(`${ofProject}/render`, asked);
  assert.deepEqual([shown.status, Object.keys(shown.body).length, shown.body.image_url], [200, 4, image_url]);

  assert.equal((await as('owner').put(`${ofProject}/${shared.id}`, { name: 'x' })).body.message, '403 Forbidden');
  const kept = await as('owner').delete(`${ofProject}/${shared.id}`);
  assert.deepEqual([kept.status, kept.body.message], [403, 'To delete a Group badge please use the Group endpoint']);
  assert.equal((await as('owner').delete(`${ofGroup}/${own.body.id}`)).status, 404);
  assert.equal((await as('maintainer').delete(`${ofProject}/${own.body.id}`)).status, 204);
  assert.equal((await as('owner').delete(`${ofGroup}/${shared.id}`)).status, 204);
  assert.deepEqual((await as('guest').get(ofProject)).body, []);
});

test('commits and tags are shown to those who may read code, and to nobody else', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const url = `/projects/${project.id}/badges`;
  const of = { link_url: 'https://a.example/%{default_branch}/%{commit_sha}/%{latest_tag}', image_url };
  const { id } = await sent(as('maintainer').post(url, of));
  const tag = { tag_name: 'v1/ä', ref: 'main' };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/tags`, tag));
  const shown = async (persona: 'reporter' | 'guest') => (await as(persona).get(`${url}/${id}`)).body.rendered_link_url;
  assert.equal(await shown('reporter'), `https://a.example/main/${await headOf(here)}/v1/%C3%A4`);
  assert.equal(await shown('guest'), 'https://a.example///');
});

test('invalid badges are refused, and badges of other owners do not change', async () => {
  const { as, project, group } = await world();
  const url = `/projects/${project.id}/badges`;
  const missing = await as('maintainer').post(url);
  assert.equal(missing.body.message, 'link_url is missing, image_url is missing');
  const blocked = ['is blocked: Only allowed schemes are http, https'];
  for (const bad of ['javascript:alert(1)', 'ftp://a.example', '//a.example', '%{project_path}', ''])
    assert.deepEqual((await as('maintainer').post(url, { link_url: bad, image_url })).body.message, {
      link_url: blocked,
    });
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['developer', 403],
  ] as const)
    assert.equal((await as(persona).post(url, { link_url, image_url })).status, status);
  assert.equal((await as('maintainer').post(`/groups/${group.id}/badges`, { link_url, image_url })).status, 403);
  assert.equal((await as('outsider').get(url)).status, 404);
  assert.deepEqual((await as('guest').get(url)).body, []);
});

test('a project has at most 100 badges, also when two come at once', async () => {
  const { as, project, db } = await world();
  const row = { project_id: project.id, link_url, image_url };
  await db
    .insertInto('badges')
    .values(Array.from({ length: 99 }, () => row))
    .execute();
  const url = `/projects/${project.id}/badges`;
  const replies = await Promise.all([1, 2, 3].map(() => as('maintainer').post(url, { link_url, image_url })));
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 400, 400]);
  assert.deepEqual(replies.find(({ status }) => status === 400)!.body.message, {
    base: ['Maximum number of badges (100) exceeded'],
  });
});
