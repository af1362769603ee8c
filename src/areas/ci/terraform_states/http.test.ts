import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { personWith } from '../../../../test/support/member_roles.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';

type Persona = Parameters<World['as']>[0];

const state = (serial: number, more: object = {}) => JSON.stringify({ version: 4, serial, ...more });

interface Request {
  headers?: Record<string, string>;
  body?: string;
}

/** Calls of a backend: the token is the password. */
function backend({ url, project }: Pick<World, 'url' | 'project'>, name = 'production') {
  const at = `${url}/api/v4/projects/${project.id}/terraform/state/${name}`;
  return async (method: string, path: string, { headers = {}, body }: Request = {}) => {
    const reply = await fetch(`${at}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    return { status: reply.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
}

const basic = (password: string, username = 'anybody') => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

async function backends(options?: Parameters<typeof world>[0]) {
  const here = await world(options);
  const call = backend(here);
  const by =
    (persona: Persona & keyof World['people']) =>
    (method: string, path = '', body?: string) =>
      call(method, path, { headers: basic(here.people[persona].token), ...(body !== undefined && { body }) });
  return { ...here, call, by, states: `/projects/${here.project.id}/terraform/states` };
}

test('a state is stored, read, listed and deleted with the token as the password', async () => {
  const { as, by, states } = await backends();
  const maintainer = by('maintainer');
  assert.deepEqual([(await maintainer('GET')).status, (await maintainer('GET')).body.message], [404, '404 Not found']);
  assert.equal((await maintainer('POST', '', '')).status, 204);
  assert.equal((await maintainer('POST', '', state(1))).status, 200);
  assert.equal((await maintainer('POST', '?serial=3', state(3))).status, 200);
  assert.equal((await maintainer('POST', '', state(2))).status, 200);
  assert.equal((await by('developer')('GET')).text, state(3));
  const [listed, ...others] = await sent(as('developer').get(states));
  assert.deepEqual(
    [listed.name, listed.serial, listed.size, listed.lock, others],
    ['production', 3, state(3).length, null, []],
  );
  const version = (serial: number) => `${states.slice(0, -1)}/production/versions/${serial}`;
  assert.deepEqual((await as('developer').get(version(1))).body, state(1));
  assert.equal((await as('maintainer').delete(version(3))).status, 204);
  assert.equal((await as('maintainer').delete(version(3))).status, 404);
  assert.equal((await maintainer('GET')).text, state(2));
  assert.equal((await maintainer('DELETE')).status, 200);
  assert.equal((await maintainer('GET')).status, 404);
});

test('a serial is of one version: the same bytes are accepted again, others are refused', async () => {
  const { by } = await backends();
  const maintainer = by('maintainer');
  assert.equal((await maintainer('POST', '', state(1))).status, 200);
  assert.equal((await maintainer('POST', '', state(1))).status, 200);
  const other = await maintainer('POST', '', state(1, { lineage: 'x' }));
  assert.deepEqual([other.status, other.body], [400, { message: 'version already exists' }]);
  const both = await Promise.all(['a', 'b'].map((lineage) => maintainer('POST', '', state(2, { lineage }))));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400]);
  const winner = both[0]!.status === 200 ? 'a' : 'b';
  assert.equal((await maintainer('GET')).text, state(2, { lineage: winner }));
});

test('a state that is locked takes versions of the lock alone', async () => {
  const { as, by, states } = await backends();
  const [maintainer, owner] = [by('maintainer'), by('owner')];
  const lock = (ID: string) => JSON.stringify({ ID, Operation: 'OperationTypeApply', Who: 'ada' });
  assert.equal((await maintainer('POST', '/lock', lock('one'))).status, 200);
  assert.equal((await maintainer('GET')).status, 204);
  const taken = await owner('POST', '/lock', lock('two'));
  assert.deepEqual([taken.status, taken.body.ID, taken.body.Who], [409, 'one', 'ada']);
  const [listed] = await sent(as('developer').get(states));
  const { username } = await sent(as('maintainer').get('/user'));
  assert.deepEqual([listed.locked_by, listed.lock.ID, listed.serial], [username, 'one', null]);
  for (const query of ['', '?ID=two']) {
    const refused = await maintainer('POST', query, state(1));
    assert.deepEqual([refused.status, refused.body.message], [409, '409 Conflict'], query);
  }
  assert.equal((await maintainer('DELETE')).status, 409);
  assert.equal((await maintainer('POST', '?ID=one', state(1))).status, 200);
  assert.equal((await owner('DELETE', '/lock', lock('two'))).status, 409);
  assert.equal((await maintainer('DELETE', '/lock', lock('one'))).status, 200);
  assert.equal((await maintainer('POST', '?ID=one', state(2))).status, 409);
  assert.equal((await maintainer('POST', '/lock', lock('three'))).status, 200);
  assert.equal((await owner('DELETE', '/lock')).status, 200);
  assert.equal((await owner('DELETE')).status, 200);
  const many = await Promise.all(['x', 'y', 'z'].map((id) => maintainer('POST', '/lock', lock(id))));
  assert.deepEqual(many.map(({ status }) => status).toSorted(), [200, 409, 409]);
});

test('each role does what it may with a state', async () => {
  const { by } = await backends();
  assert.equal((await by('maintainer')('POST', '', state(1))).status, 200);
  const statuses = async (persona: Persona & keyof World['people']) => {
    const act = by(persona);
    return [
      (await act('GET')).status,
      (await act('POST', '', state(1))).status,
      (await act('POST', '/lock', '{"ID":"a"}')).status,
      (await act('DELETE', '/lock', '{"ID":"a"}')).status,
      (await act('DELETE', '/lock')).status,
    ];
  };
  assert.deepEqual(await statuses('admin'), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statuses('owner'), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statuses('maintainer'), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statuses('developer'), [200, 403, 403, 403, 403]);
  for (const persona of ['reporter', 'guest'] as const)
    assert.deepEqual(await statuses(persona), [403, 403, 403, 403, 403], persona);
  assert.deepEqual(await statuses('outsider'), [404, 404, 404, 404, 404]);
});

test('admin_terraform_state: a Guest with it reads, writes, locks and deletes, and takes nobody the lock', async () => {
  const here = await backends();
  const { as, call, project, states } = here;
  const holder = await personWith(here, `/projects/${project.id}`, ['admin_terraform_state']);
  const other = await personWith(here, `/projects/${project.id}`, ['read_runners']);
  const mine = (method: string, path = '', body?: string) =>
    call(method, path, { headers: basic(holder.token), ...(body !== undefined && { body }) });
  assert.equal((await mine('POST', '', state(1))).status, 200);
  assert.equal((await mine('GET')).text, state(1));
  assert.equal((await mine('POST', '/lock', '{"ID":"a"}')).status, 200);
  assert.equal((await mine('DELETE', '/lock')).status, 403);
  assert.equal((await mine('DELETE', '/lock?ID=a')).status, 200);
  assert.equal((await holder.client.get(states)).body.length, 1);
  assert.equal((await holder.client.delete(`${states.slice(0, -1)}/production/versions/1`)).status, 204);
  assert.equal((await mine('DELETE')).status, 200);
  assert.equal((await other.client.get(states)).status, 403);
  assert.equal((await call('POST', '', { headers: basic(other.token), body: state(1) })).status, 403);
  assert.equal((await as('guest').get(states)).status, 403);
});

test('the token of a job has the rights of its user in its project alone', async () => {
  const here = await built('build: {script: make}');
  const { as, at, url } = here;
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const job = (await (await runnerOf(here)).take())!;
  const call = backend(here);
  const headers = basic(job.token, 'gitlab-ci-token');
  assert.equal((await call('POST', '', { headers, body: state(1) })).status, 200);
  assert.equal((await call('GET', '', { headers: { 'job-token': job.token } })).text, state(1));
  const [listed] = await sent(as('developer').get(`${at}/terraform/states`));
  assert.equal(listed.job_id, job.id);
  const other = await sent(as('owner').post('/projects', { name: 'other', namespace_id: here.group.id }));
  const elsewhere = backend({ url, project: other });
  assert.equal((await elsewhere('POST', '', { headers, body: state(1) })).status, 404);
  await job.end('success');
  assert.equal((await call('GET', '', { headers })).status, 401);
});

test('what is no state, no lock and no name is refused', async () => {
  const here = await backends({});
  const { as, call, by, people } = here;
  const headers = basic(people.maintainer.token);
  const maintainer = by('maintainer');
  const refusal = async (method: string, path: string, body: string) => {
    const { status, body: answer } = await maintainer(method, path, body);
    return [status, answer.message];
  };
  const [noState, noLock] = [
    '400 Bad request - The body is no state with a serial',
    '400 Bad request - The body is no lock with an ID',
  ];
  assert.deepEqual(await refusal('POST', '', '{"serial":'), [400, noState]);
  assert.deepEqual(await refusal('POST', '', '{"serial":"1"}'), [400, noState]);
  assert.deepEqual(await refusal('POST', '?serial=2', state(1)), [400, 'serial is invalid']);
  assert.deepEqual(await refusal('POST', '?ID=a&ID=b', state(1)), [400, 'ID is invalid']);
  assert.deepEqual(await refusal('POST', '/lock', '{"ID":7}'), [400, noLock]);
  assert.deepEqual(await refusal('DELETE', '/lock', 'x'), [400, noLock]);
  const md5 = (text: string) => ({ ...headers, 'content-md5': hash('md5', text, 'base64') });
  const wrong = await call('POST', '', { headers: md5('x'), body: state(1) });
  assert.deepEqual([wrong.status, wrong.body.message], [400, '400 Bad request - Content-MD5 does not fit the body']);
  assert.equal((await call('POST', '', { headers: md5(state(1)), body: state(1) })).status, 200);
  const named = await backend(here, 'a%2Fb')('GET', '', { headers });
  assert.deepEqual([named.status, named.body.message], [400, 'name is invalid']);
  assert.equal((await call('GET', '', { headers: basic('wrong') })).status, 401);
  assert.equal((await call('GET', '')).status, 401);
  await sent(as('admin').put('/application/settings', { max_terraform_state_size_bytes: 40 }));
  assert.deepEqual(await refusal('POST', '', state(2, { lineage: 'long' })), [413, '413 Request Entity Too Large']);
  assert.equal((await maintainer('POST', '', state(2))).status, 200);
  await sent(as('owner').post(`/projects/${here.project.id}/archive`));
  assert.deepEqual(await refusal('POST', '', state(3)), [403, '403 Forbidden - The project is archived.']);
  assert.equal((await maintainer('GET')).text, state(2));
});

test('versions beyond those that are kept go with their files, which nobody can read', async () => {
  const here = await backends({});
  const { as, by, db, services, states } = here;
  await sent(as('admin').put('/application/settings', { max_terraform_state_versions: 2 }));
  for (const serial of [1, 2, 3]) assert.equal((await by('maintainer')('POST', '', state(serial))).status, 200);
  const version = (serial: number) => `${states.slice(0, -1)}/production/versions/${serial}`;
  assert.deepEqual(
    [(await as('developer').get(version(1))).status, (await as('developer').get(version(2))).status],
    [404, 200],
  );
  const unused = await db.selectFrom('unused_blobs').select('key').where('key', 'like', 'terraform_states/%').execute();
  assert.equal(unused.length, 1);
  const rows = await db.selectFrom('terraform_versions').select(['blob_key', 'stored_bytes']).execute();
  for (const { blob_key, stored_bytes } of rows) {
    const parts = await Array.fromAsync((await services.blobs.read(blob_key as `${string}/${string}`))!);
    const bytes = Buffer.concat(parts as Buffer[]);
    assert.deepEqual([bytes.length, bytes.includes('serial')], [stored_bytes, false]);
  }
  // A lower serial that is sent on purpose is kept, too.
  assert.equal((await by('maintainer')('POST', '', state(1))).status, 200);
  assert.deepEqual(
    [(await as('developer').get(version(1))).status, (await as('developer').get(version(3))).status],
    [200, 200],
  );
});
