import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { clientOf } from '../../../../test/support/client.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { removeOrphanedBots } from './index.ts';

const wish = (more: object = {}) => ({ name: 'deploy', scopes: ['api'], expires_at: daysFromNow(30), ...more });
const holding = ({ url }: World, token: string) => clientOf(`${url}/api/v4`, token);
const serviceCall = ({ services }: World) => ({
  ...services,
  log: pino({ level: 'silent' }),
  signal: new AbortController().signal,
});

test('a project access token works in its project, with its level, and nowhere else', async () => {
  const here = await world();
  const { as, project, group } = here;
  const base = `/projects/${project.id}/access_tokens`;
  const made = await as('maintainer').post(base, wish({ description: 'for the deployment', access_level: 30 }));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, token, user_id, ...rest } = made.body;
  assert.deepEqual(
    [rest.name, rest.scopes, rest.access_level, rest.resource_type, rest.resource_id, rest.active],
    ['deploy', ['api'], 30, 'project', project.id, true],
  );
  const bot = holding(here, token);
  const self = (await bot.get('/user')).body;
  assert.deepEqual([self.id, self.bot, self.name], [user_id, true, 'deploy']);
  assert.match(self.username, new RegExp(`^project_${project.id}_bot_[0-9a-f]{32}$`));
  assert.equal((await bot.get(`/projects/${project.id}`)).status, 200);
  assert.equal((await bot.get(`/groups/${group.id}`)).body.visibility, 'private');
  assert.equal((await bot.post('/projects', { name: 'mine' })).status, 400);
  assert.equal((await bot.get('/personal_access_tokens/self')).body.id, id);
  assert.equal((await as('maintainer').get(`/projects/${project.id}/members/${user_id}`)).body.access_level, 30);

  const { token: _once, ...listed } = made.body;
  assert.deepEqual((await as('maintainer').get(base)).body, [
    { ...listed, last_used_at: (await as('maintainer').get(base)).body[0].last_used_at },
  ]);
  assert.equal((await as('maintainer').get(`${base}/${id}`)).body.id, id);
  const found = (await as('admin').get('/users', { search: self.username })).body;
  assert.equal(found.length, 1);
  assert.deepEqual((await as('admin').get('/users', { search: self.username, without_project_bots: true })).body, []);
});

test('only members who manage a project or group manage its tokens, and never above their own level', async () => {
  const here = await world();
  const { as, project, group } = here;
  const projectBase = `/projects/${project.id}/access_tokens`;
  const groupBase = `/groups/${group.id}/access_tokens`;
  for (const [persona, base, kind] of [
    ['developer', projectBase, 'project'],
    ['maintainer', groupBase, 'group'],
  ] as const) {
    assert.equal((await as(persona).get(base)).status, 401);
    const refused = await as(persona).post(base, wish());
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body, {
      message: `400 Bad request - User does not have permission to create ${kind} access token`,
    });
  }
  assert.equal((await as('outsider').post(projectBase, wish())).status, 404);
  const above = await as('maintainer').post(projectBase, wish({ access_level: 50 }));
  assert.deepEqual(above.body, {
    message:
      "400 Bad request - Access level of the token can't be greater the access level of the user who created the token",
  });
  assert.deepEqual((await as('maintainer').get(projectBase)).body, []);

  const made = (await as('owner').post(groupBase, wish({ access_level: 50 }))).body;
  const bot = holding(here, made.token);
  assert.equal((await bot.get(groupBase)).status, 200);
  // Otherwise a leaked token could create others.
  assert.equal((await bot.post(groupBase, wish())).status, 400);
  assert.equal((await bot.post('/user/personal_access_tokens', { name: 'x', scopes: ['self_rotate'] })).status, 422);
  assert.equal((await bot.post('/personal_access_tokens/self/rotate')).status, 405);
});

test('invalid tokens are refused, and no bot user is left behind', async () => {
  const here = await world();
  const { as, project, db } = here;
  const base = `/projects/${project.id}/access_tokens`;
  const refusals: [object, string][] = [
    [{ expires_at: undefined }, "400 Bad request - Expires at can't be blank"],
    [{ expires_at: daysFromNow(-1) }, '400 Bad request - Expires at cannot be a date in the past'],
    [{ expires_at: daysFromNow(400) }, `400 Bad request - Expires at must be on or before ${daysFromNow(365)}`],
    [{ scopes: [] }, "400 Bad request - Scopes can't be blank"],
    [{ name: ' ' }, "400 Bad request - Name can't be blank"],
    [{ scopes: ['everything'] }, 'scopes does not have a valid value'],
    [{ access_level: 5 }, 'access_level does not have a valid value'],
  ];
  for (const [more, message] of refusals) {
    const refused = await as('maintainer').post(base, wish(more));
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual(
    await db.selectFrom('access_token_bots').selectAll().where('project_id', '=', project.id).execute(),
    [],
  );
});

test('a rotated token keeps its bot user and level, and the old one stops working', async () => {
  const here = await world();
  const { as, group } = here;
  const base = `/groups/${group.id}/access_tokens`;
  const made = (await as('owner').post(base, wish({ access_level: 20, expires_at: daysFromNow(3) }))).body;
  const rotated = await as('owner').post(`${base}/${made.id}/rotate`, { expires_at: daysFromNow(60) });
  assert.equal(rotated.status, 200);
  assert.deepEqual(
    [rotated.body.user_id, rotated.body.access_level, rotated.body.expires_at],
    [made.user_id, 20, daysFromNow(60)],
  );
  assert.equal((await holding(here, made.token).get('/user')).status, 401);
  assert.equal((await holding(here, rotated.body.token).get(`/groups/${group.id}`)).status, 200);
  const again = await as('owner').post(`${base}/${made.id}/rotate`);
  assert.deepEqual([again.status, again.body], [400, { message: '400 Bad request - Token already revoked' }]);
  assert.equal((await as('owner').post(`${base}/99999999/rotate`)).status, 401);
  const nowhere = await as('admin').post(`${base}/99999999/rotate`);
  assert.deepEqual([nowhere.status, nowhere.body], [404, { message: '404 group Access Token Not Found' }]);
});

test('maintainers do not get the level of owners by rotating their token', async () => {
  const here = await world();
  const base = `/projects/${here.project.id}/access_tokens`;
  const made = (await here.as('owner').post(base, wish({ access_level: 50 }))).body;
  assert.equal((await here.as('maintainer').post(`${base}/${made.id}/rotate`)).status, 403);
  assert.equal((await holding(here, made.token).get('/user')).status, 200);
});

test('revoking a token deletes its bot user', async () => {
  const here = await world();
  const { as, project, db } = here;
  const base = `/projects/${project.id}/access_tokens`;
  const { id, token, user_id } = (await as('maintainer').post(base, wish())).body;
  assert.equal((await as('developer').delete(`${base}/${id}`)).status, 401);
  assert.equal((await as('maintainer').delete(`${base}/${id}`)).status, 204);
  assert.equal((await holding(here, token).get('/user')).status, 401);
  assert.equal((await as('maintainer').delete(`${base}/${id}`)).status, 400);
  await removeUser.perform({ user_id, hard: false }, serviceCall(here));
  const gone = await as('maintainer').get(`${base}/${id}`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 project Access Token Not Found' }]);
  assert.equal((await as('maintainer').get(`/projects/${project.id}/members/${user_id}`)).status, 404);
  assert.equal(await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst(), undefined);
});

test('tokens of a deleted project do not work, and their bot users are deleted', async () => {
  const here = await world();
  const { as, db } = here;
  const project = (await as('outsider').post('/projects', { name: 'short lived' })).body;
  const { token, user_id } = (await as('outsider').post(`/projects/${project.id}/access_tokens`, wish())).body;
  const bystander = (await as('maintainer').post(`/projects/${here.project.id}/access_tokens`, wish())).body;
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  await removeOrphanedBots.perform({}, serviceCall(here));
  assert.equal((await holding(here, token).get('/user')).status, 403);
  assert.equal((await holding(here, bystander.token).get('/user')).status, 200);
  await removeUser.perform({ user_id, hard: false }, serviceCall(here));
  assert.equal((await holding(here, token).get('/user')).status, 401);
});

test('the bot of a group token does not rotate itself, whatever its level, and keeps working', async () => {
  const here = await world();
  const request = { name: 'bot', scopes: ['api'], access_level: 50, expires_at: daysFromNow(5) };
  const { body } = await here.as('owner').post(`/groups/${here.group.id}/access_tokens`, request);
  const bot = clientOf(`${here.url}/api/v4`, body.token);
  const refused = await bot.post(`/personal_access_tokens/${body.id}/rotate`);
  assert.deepEqual([refused.status, refused.body], [403, { message: '403 Forbidden' }]);
  assert.equal((await bot.get(`/groups/${here.group.id}`)).status, 200);
});
