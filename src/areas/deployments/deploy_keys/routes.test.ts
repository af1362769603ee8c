import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newPublicKey } from '../../../../test/support/public_key.ts';
import { world } from '../../../../test/support/world.ts';

test('a deploy key is added, shown, updated and removed', async () => {
  const { as, project } = await world();
  const path = `/projects/${project.id}/deploy_keys`;
  const key = newPublicKey();
  const added = await as('maintainer').post(path, { title: 'build', key, expires_at: '2099-01-01T00:00:00Z' });
  assert.equal(added.status, 201);
  const { id, created_at } = added.body;
  const bytes = Buffer.from(key.split(' ')[1]!, 'base64');
  const shown = {
    id,
    title: 'build',
    key,
    fingerprint: createHash('md5')
      .update(bytes)
      .digest('hex')
      .replaceAll(/..(?!$)/g, '$&:'),
    fingerprint_sha256: `SHA256:${createHash('sha256').update(bytes).digest('base64').replace('=', '')}`,
    created_at,
    expires_at: '2099-01-01T00:00:00.000Z',
    can_push: false,
  };
  assert.deepEqual(added.body, shown);
  assert.deepEqual((await as('maintainer').get(path)).body, [shown]);
  assert.deepEqual((await as('owner').get(`${path}/${id}`)).body, shown);
  const changed = await as('maintainer').put(`${path}/${id}`, { title: 'deploy', can_push: true });
  assert.deepEqual([changed.status, changed.body], [200, { ...shown, title: 'deploy', can_push: true }]);

  for (const [who, status] of [
    ['developer', 403],
    ['outsider', 404],
    ['anonymous', 401],
  ] as const) {
    assert.equal((await as(who).get(path)).status, status);
    assert.equal((await as(who).post(path, { title: 'x', key: newPublicKey() })).status, status);
    assert.equal((await as(who).delete(`${path}/${id}`)).status, status);
  }
  const [first, second] = await Promise.all([
    as('maintainer').delete(`${path}/${id}`),
    as('owner').delete(`${path}/${id}`),
  ]);
  assert.deepEqual([first.status, second.status].toSorted(), [204, 404]);
  assert.deepEqual((await as('maintainer').get(`${path}/${id}`)).body, { message: '404 Not found' });
  assert.equal((await as('developer').post('/user/keys', { title: 'mine', key })).status, 201, 'the key is free again');
});

test('invalid deploy keys, and keys of users, are refused', async () => {
  const { as, project } = await world();
  const path = `/projects/${project.id}/deploy_keys`;
  const mine = newPublicKey();
  await as('guest').post('/user/keys', { title: 'laptop', key: mine });
  const refusals: [object, string | object][] = [
    [{ title: 'a' }, 'key is missing'],
    [{ key: newPublicKey() }, 'title is missing'],
    [{ title: ' ', key: newPublicKey() }, { title: ["can't be blank"] }],
    [{ title: 'a', key: 'ssh-ed25519 x' }, { key: ['is invalid'] }],
    [{ title: 'a', key: newPublicKey(), expires_at: '2001-01-01T00:00:00Z' }, { key: ['has expired'] }],
    [{ title: 'a', key: mine }, { fingerprint: ['has already been taken'] }],
  ];
  for (const [body, message] of refusals) {
    const refused = await as('maintainer').post(path, { ...body });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  const { body } = await as('maintainer').post(path, { title: 'a', key: newPublicKey() });
  const taken = await as('guest').post('/user/keys', { title: 'b', key: body.key });
  assert.deepEqual([taken.status, taken.body.message], [400, { fingerprint_sha256: ['has already been taken'] }]);
  assert.equal((await as('maintainer').put(`${path}/${body.id}`, {})).status, 400);
});

test('a key of several projects is shared, and its managers add it to others', async () => {
  const here = await world();
  const there = await world();
  const { as } = here;
  const [first, second] = [here, there].map(({ project }) => `/projects/${project.id}/deploy_keys`) as [string, string];
  const key = newPublicKey();
  const { body } = await as('maintainer').post(first, { title: 'build', key, can_push: true });
  const again = await there.as('maintainer').post(second, { title: 'other', key });
  assert.deepEqual(
    [again.status, again.body.id, again.body.title, again.body.can_push],
    [201, body.id, 'build', false],
  );
  assert.equal((await there.as('maintainer').delete(`${second}/${body.id}`)).status, 204);
  assert.equal((await as('maintainer').get(`${first}/${body.id}`)).status, 200);

  assert.equal((await there.as('maintainer').post(`${second}/${body.id}/enable`)).status, 404, 'it is not theirs');
  await there
    .as('owner')
    .post(`/projects/${there.project.id}/members`, { user_id: here.people.maintainer.id, access_level: 40 });
  const enabled = await as('maintainer').post(`${second}/${body.id}/enable`);
  assert.deepEqual([enabled.status, enabled.body.can_push], [201, false]);

  const all = (await as('admin').get('/deploy_keys', { per_page: 100 })).body.find(
    ({ id }: { id: number }) => id === body.id,
  );
  const ids = (projects: { id: number }[]) => projects.map(({ id }) => id);
  assert.deepEqual(ids(all.projects_with_write_access), [here.project.id]);
  assert.deepEqual(ids(all.projects_with_readonly_access), [there.project.id]);
  assert.deepEqual((await as('admin').get('/deploy_keys', { public: true })).body, []);
  assert.equal((await as('owner').get('/deploy_keys')).status, 403);
});

test('a user lists the deploy keys of projects that another user maintains, too', async () => {
  const here = await world();
  const { as, project, people } = here;
  const key = { title: 'Deploy', key: newPublicKey() };
  const added = await as('maintainer').post(`/projects/${project.id}/deploy_keys`, { ...key, can_push: true });
  const list = async (persona: 'owner' | 'developer' | 'maintainer' | 'admin', of: number | string) =>
    (await as(persona).get(`/users/${of}/project_deploy_keys`)).body.map(({ id }: { id: number }) => id);
  const { maintainer, developer } = people;
  assert.deepEqual(await list('owner', maintainer.id), [added.body.id]);
  assert.deepEqual(await list('admin', maintainer.username), [added.body.id]);
  assert.deepEqual(await list('maintainer', maintainer.id), [added.body.id]);
  assert.deepEqual(await list('developer', maintainer.id), []);
  assert.deepEqual(await list('owner', developer.id), []);
  const [shown] = (await as('owner').get(`/users/${maintainer.id}/project_deploy_keys`)).body;
  assert.deepEqual(
    shown.projects_with_write_access.map(({ id }: { id: number }) => id),
    [project.id],
  );
  const missing = await as('owner').get('/users/nobody-there/project_deploy_keys');
  assert.deepEqual([missing.status, missing.body.message], [404, '404 User Not Found']);
  assert.equal((await as('anonymous').get(`/users/${maintainer.id}/project_deploy_keys`)).status, 401);
});
