import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeGroup } from '../../people/namespaces/index.ts';
import { ghostUser, removeUser } from '../../people/users/index.ts';
import { removeOrphanedServiceAccounts } from './index.ts';

const message = (text: string) => ({ message: `400 Bad request - ${text}` });
const ids = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

/** A world whose owner may create service accounts in their group. */
async function openWorld(): Promise<World & { base: string }> {
  const here = await world({});
  await here.db
    .updateTable('application_settings')
    .set({ allow_top_level_group_owners_to_create_service_accounts: true })
    .execute();
  return { ...here, base: `/groups/${here.group.id}/service_accounts` };
}

/** A service account of the world's group, with a client that uses a token of it. */
async function account({ as, url, base }: World & { base: string }) {
  const { id, username } = (await as('owner').post(base)).body;
  const made = await as('owner').post(`${base}/${id}/personal_access_tokens`, { name: 'work', scopes: ['api'] });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { id: id as number, username: username as string, client: clientOf(`${url}/api/v4`, made.body.token) };
}

test('owners of a group create, list, update and delete its service accounts', async () => {
  const here = await openWorld();
  const { as, group, base } = here;
  const made = await as('owner').post(base);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, username } = made.body;
  assert.match(username, new RegExp(`^service_account_group_${group.id}_[0-9a-f]{32}$`));
  const usual = { name: 'Service account user', email: `${username}@noreply.coppice.test`, public_email: null };
  assert.deepEqual(made.body, { id, username, ...usual });
  const other = (await as('owner').post(base, { name: 'B', username: `b-${id}`, email: `b-${id}@example.com` })).body;
  assert.equal(other.email, `b-${id}@example.com`);

  assert.deepEqual((await as('owner').get(base)).body, [other, made.body]);
  assert.deepEqual(ids(await as('owner').get(base, { order_by: 'username', sort: 'desc' })), [id, other.id]);
  const first = await as('owner').get(base, { sort: 'asc', per_page: 1 });
  assert.deepEqual([ids(first), first.headers.get('x-total')], [[id], '2']);
  const walk = await as('owner').get(base, { pagination: 'keyset', per_page: 1 });
  assert.deepEqual(ids(walk), [other.id]);
  assert.match(walk.headers.get('link')!, /cursor=/);

  const path = `${base}/${id}`;
  const changed = await as('owner').patch(path, { name: 'Robot', username: ' ', email: `robot-${id}@example.com` });
  assert.deepEqual(
    [changed.status, changed.body],
    [200, { ...made.body, name: 'Robot', email: `robot-${id}@example.com` }],
  );
  const taken = await as('owner').patch(path, { username: other.username });
  assert.deepEqual([taken.status, taken.body], [400, message('Username has already been taken')]);

  assert.equal((await as('owner').delete(path)).status, 204);
  assert.equal((await as('admin').get(`/users/${id}`)).body.state, 'blocked');
  await performQueued(here.services, [removeUser]);
  assert.deepEqual(ids(await as('owner').get(base)), [other.id]);
  assert.equal((await as('owner').delete(path)).status, 404);
});

test('callers who do not manage the group are refused, and without the setting its owner as well', async () => {
  const here = await openWorld();
  const { as, base, db, group } = here;
  const { id } = (await as('owner').post(base)).body;
  const calls = [
    (who: 'maintainer' | 'outsider' | 'anonymous' | 'owner') => as(who).get(base),
    (who) => as(who).patch(`${base}/${id}`, { name: 'Mine' }),
    (who) => as(who).delete(`${base}/${id}`),
    (who) => as(who).get(`${base}/${id}/personal_access_tokens`),
    (who) => as(who).post(`${base}/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }),
    (who) => as(who).post(`${base}/${id}/personal_access_tokens/1/rotate`),
    (who) => as(who).delete(`${base}/${id}/personal_access_tokens/1`),
  ] satisfies ((who: 'maintainer' | 'outsider' | 'anonymous' | 'owner') => Promise<unknown>)[];
  const statuses = async (who: 'maintainer' | 'outsider' | 'anonymous' | 'owner') =>
    new Set((await Promise.all(calls.map((call) => call(who)))).map(({ status }) => status));
  assert.deepEqual(await statuses('maintainer'), new Set([403]));
  assert.deepEqual(await statuses('outsider'), new Set([404]));
  assert.deepEqual(await statuses('anonymous'), new Set([401]));
  const mayNot = message('User does not have permission to create a service account in this namespace.');
  const refused = await as('maintainer').post(base);
  assert.deepEqual([refused.status, refused.body], [400, mayNot]);
  const hidden = await as('outsider').post(base);
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Group Not Found' }]);

  const sub = (await as('owner').post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  assert.deepEqual((await as('owner').post(`/groups/${sub.id}/service_accounts`)).body, mayNot);

  await db
    .updateTable('application_settings')
    .set({ allow_top_level_group_owners_to_create_service_accounts: false })
    .execute();
  assert.deepEqual(await statuses('owner'), new Set([403]));
  assert.deepEqual((await as('owner').post(base)).body, mayNot);
  assert.equal((await as('admin').post(base)).status, 201);
  const setting = { allow_top_level_group_owners_to_create_service_accounts: true };
  assert.equal((await as('admin').put('/application/settings', setting)).status, 200);
  assert.equal((await as('owner').get(base)).status, 200);
  assert.equal((await as('admin').get(`/users/${id}`)).body.name, 'Service account user');
});

test('a group manages only its own service accounts', async () => {
  const here = await openWorld();
  const { as, base, people } = here;
  const elsewhere = await openWorld();
  const foreign = (await elsewhere.as('owner').post(elsewhere.base)).body.id;
  const ofInstance = (await as('admin').post('/service_accounts')).body.id;
  await as('admin').post(`/groups/${here.group.id}/members`, { user_id: ofInstance, access_level: 30 });
  const { body: token } = await as('admin').post(`/users/${ofInstance}/personal_access_tokens`, {
    name: 'x',
    scopes: ['api'],
  });
  for (const persona of ['owner', 'admin'] as const) {
    const answers = async (id: number | string) => [
      await as(persona).patch(`${base}/${id}`, { name: 'Mine' }),
      await as(persona).delete(`${base}/${id}`, { hard_delete: true }),
      await as(persona).get(`${base}/${id}/personal_access_tokens`),
      await as(persona).post(`${base}/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }),
      await as(persona).post(`${base}/${id}/personal_access_tokens/${token.id}/rotate`),
      await as(persona).delete(`${base}/${id}/personal_access_tokens/${token.id}`),
    ];
    for (const id of [foreign, ofInstance, 99_999_999])
      for (const { status, body } of await answers(id))
        assert.deepEqual([status, body], [404, { message: '404 User Not Found' }]);
    for (const { status, body } of await answers(people.guest.id))
      assert.deepEqual([status, body], [400, message('User is not of type Service Account')]);
    for (const { status, body } of await answers('robot'))
      assert.deepEqual([status, body], [400, { message: 'user_id is invalid', error: 'user_id is invalid' }]);
    assert.deepEqual(ids(await as(persona).get(base)), []);
  }
  for (const id of [foreign, ofInstance, people.guest.id]) {
    const { state, name } = (await as('admin').get(`/users/${id}`)).body;
    assert.deepEqual([state, name === 'Mine'], ['active', false]);
  }
});

test('a service account has access where it is a member, and no namespace of its own', async () => {
  const here = await openWorld();
  const { as, group, project, people } = here;
  const { id, username, client } = await account(here);
  assert.equal((await client.get('/user')).body.id, id);
  assert.equal((await client.get(`/projects/${project.id}`)).status, 404);
  assert.equal((await as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 20 })).status, 201);
  assert.equal((await as('owner').post(`/projects/${project.id}/members`, { username, access_level: 40 })).status, 201);
  assert.equal((await client.get(`/projects/${project.id}`)).status, 200);
  const issue = await client.post(`/projects/${project.id}/issues`, { title: `For @${people.guest.username}` });
  assert.deepEqual([issue.status, issue.body.author.id], [201, id]);
  const note = await as('guest').post(`/projects/${project.id}/issues/${issue.body.iid}/notes`, {
    body: `Thank you, @${username}`,
  });
  assert.equal(note.status, 201);
  assert.equal((await client.get('/todos')).body.length, 1);

  const copy = (await as('owner').post('/projects', { name: 'copy', namespace_id: group.id })).body;
  await as('owner').post(`/projects/${copy.id}/import_project_members/${project.id}`);
  assert.equal((await as('owner').get(`/projects/${copy.id}/members/${id}`)).body.access_level, 40);

  assert.equal((await client.post('/projects', { name: 'own' })).status, 400);
  assert.equal((await client.post('/groups', { name: `own-${id}`, path: `own-${id}` })).status, 403);
  assert.equal((await client.post(`/projects/${project.id}/fork`)).status, 404);
  const mighty = await as('admin').put(`/users/${id}`, { admin: true });
  assert.deepEqual(
    [mighty.status, mighty.body],
    [400, { message: { admin: ['cannot be given to a service account of a group'] } }],
  );
});

test('a service account is blocked and unblocked like a user', async () => {
  const here = await openWorld();
  const { as } = here;
  const { id, client } = await account(here);
  assert.equal((await as('admin').post(`/users/${id}/block`)).status, 201);
  assert.equal((await client.get('/user')).status, 403);
  assert.equal((await as('admin').post(`/users/${id}/unblock`)).status, 201);
  assert.equal((await client.get('/user')).status, 200);
  assert.equal((await as('admin').post(`/users/${id}/ban`)).status, 201);
  assert.equal((await client.get('/user')).status, 403);
});

test('a group access token cannot create service accounts or their tokens', async () => {
  const { as, group, url, base } = await openWorld();
  const { id } = (await as('owner').post(base)).body;
  const expires_at = new Date(Date.now() + 864e5 * 30).toISOString().slice(0, 10);
  const wish = { name: 'bot', scopes: ['api'], access_level: 50, expires_at };
  const { token } = (await as('owner').post(`/groups/${group.id}/access_tokens`, wish)).body;
  const bot = clientOf(`${url}/api/v4`, token);
  assert.deepEqual(ids(await bot.get(base)), [id]);
  assert.equal((await bot.post(base)).status, 400);
  assert.equal((await bot.post(`${base}/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status, 403);
  assert.deepEqual((await as('owner').get(`${base}/${id}/personal_access_tokens`)).body, []);
});

test('the only owner of a group cannot be deleted without hard_delete; otherwise contributions go to the ghost user', async () => {
  const here = await openWorld();
  const { as, base, project, group, services } = here;
  const [kept, sole] = [await account(here), await account(here)];
  for (const { id } of [kept, sole])
    await as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 40 });
  const issue = (await kept.client.post(`/projects/${project.id}/issues`, { title: 'Left behind' })).body;
  const lost = (await sole.client.post(`/projects/${project.id}/issues`, { title: 'Gone' })).body;
  const own = (await as('outsider').post('/groups', { name: `own-${sole.id}`, path: `own-${sole.id}` })).body;
  await as('outsider').post(`/groups/${own.id}/members`, { user_id: sole.id, access_level: 50 });
  // A person cannot leave a group to a bot any more; earlier releases allowed it.
  await here.db
    .deleteFrom('members')
    .where('group_id', '=', own.id)
    .where('user_id', '=', here.people.outsider.id)
    .execute();

  const refused = await as('owner').delete(`${base}/${sole.id}`);
  assert.deepEqual(
    [refused.status, refused.body],
    [409, { message: 'User cannot be removed while is the sole-owner of a group' }],
  );
  assert.equal((await sole.client.get('/user')).status, 200);
  assert.equal((await as('owner').delete(`${base}/${sole.id}`, { hard_delete: true })).status, 204);
  assert.equal((await as('owner').delete(`${base}/${kept.id}`)).status, 204);
  for (const { client } of [kept, sole]) assert.equal((await client.get('/user')).status, 403);
  await performQueued(services, [removeUser, removeGroup]);
  for (const { client } of [kept, sole]) assert.equal((await client.get('/user')).status, 401);
  assert.equal(
    (await as('owner').get(`/projects/${project.id}/issues/${issue.iid}`)).body.author.id,
    await ghostUser(services),
  );
  assert.equal((await as('owner').get(`/projects/${project.id}/issues/${lost.iid}`)).status, 404);
  assert.equal((await as('admin').get(`/groups/${own.id}`)).status, 404);
});

test('the service accounts of a deleted group are blocked at once and deleted by a job', async () => {
  const here = await openWorld();
  const { as, services, db } = here;
  const top = (await as('owner').post('/groups', { name: `gone-${here.group.id}`, path: `gone-${here.group.id}` }))
    .body;
  const lost = await account({ ...here, base: `/groups/${top.id}/service_accounts` });
  const [kept, ofInstance] = [await account(here), (await as('admin').post('/service_accounts')).body.id];
  await as('owner').post(`/groups/${here.group.id}/members`, { user_id: lost.id, access_level: 30 });
  assert.equal((await lost.client.get(`/groups/${here.group.id}`)).status, 200);
  await as('owner').delete(`/groups/${top.id}`);
  assert.equal((await lost.client.get('/user')).status, 200);
  await performJob(services, removeGroup, { group_id: top.id });
  assert.equal((await lost.client.get('/user')).status, 403);

  await performJob(services, removeOrphanedServiceAccounts);
  await performQueued(services, [removeUser]);
  assert.equal((await as('admin').get(`/users/${lost.id}`)).status, 404);
  assert.equal((await as('admin').get(`/users/${ofInstance}`)).body.state, 'active');
  assert.equal((await kept.client.get('/user')).status, 200);
  const left = await db.selectFrom('personal_access_tokens').select('id').where('user_id', '=', lost.id).execute();
  assert.deepEqual(left, []);
});

test('creating a service account while its group is deleted answers 404 and leaves no account', async () => {
  const { as, db } = await openWorld();
  const { id } = (await as('owner').post('/groups', { name: 'Short', path: `short-${process.pid}` })).body;
  const accounts = async () =>
    (await db.selectFrom('users').select('id').where('user_type', '=', 'service_account').execute()).length;
  const before = await accounts();
  const made = await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('namespaces').where('id', '=', id).execute();
    const answer = as('owner').post(`/groups/${id}/service_accounts`);
    await untilLockWaits(db);
    return [answer];
  });
  const [answer] = await Promise.all(made);
  assert.deepEqual([answer!.status, answer!.body], [404, { message: '404 Group Not Found' }]);
  assert.equal(await accounts(), before);
});
