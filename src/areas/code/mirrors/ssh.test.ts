import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { commitTo, mirrorPlace, otherProject, refsOf } from '../../../../test/support/mirrors.ts';
import { leadHere } from '../../../../test/support/names.ts';
import { allowLocalHooks } from '../../../../test/support/receiver.ts';
import { sshFor } from '../../../../test/support/ssh.ts';
import type { World } from '../../../../test/support/world.ts';
import { pullMirror, pushMirror } from './index.ts';

const run = ({ services }: World) => performQueued(services, [pullMirror, pushMirror]);

/** Lets a key of a mirror act as the owner. */
async function admit({ as }: World, key: string): Promise<void> {
  const added = await as('owner').post('/user/keys', { title: 'mirror', key });
  assert.equal(added.status, 201, JSON.stringify(added.body));
}

test('a push mirror signs in over SSH with its own key, and pins the host key', async () => {
  const here = await mirrorPlace();
  const { as, project, services } = here;
  const ssh = await sshFor(here);
  const target = await otherProject(here, 'over-ssh');
  const at = `/projects/${project.id}/remote_mirrors`;
  const url = `ssh://git@127.0.0.1:${ssh.port}/${target.full_path}.git`;
  const created = await as('maintainer').post(at, { url, enabled: true, auth_method: 'ssh_public_key' });
  assert.deepEqual([created.body.url, created.body.host_keys], [url, []]);
  const one = `${at}/${created.body.id}`;
  await run(here);
  const refused = (await as('maintainer').get(one)).body;
  assert.deepEqual(
    [refused.update_status, refused.last_error],
    ['failed', 'The other system refused the key or password.'],
  );
  const { public_key } = (await as('maintainer').get(`${one}/public_key`)).body;
  await admit(here, public_key);
  await as('maintainer').post(`${one}/sync`);
  await run(here);
  const done = (await as('maintainer').get(one)).body;
  assert.deepEqual([done.update_status, done.last_error], ['finished', null]);
  assert.deepEqual(await refsOf(here, target.id), await refsOf(here, project.id));
  assert.match(done.host_keys[0].fingerprint_sha256, /^SHA256:[A-Za-z0-9+/]{43}$/);

  const { login } = await services.db
    .selectFrom('remote_mirrors')
    .select('login')
    .where('id', '=', created.body.id)
    .executeTakeFirstOrThrow();
  assert.ok(!login!.includes('OPENSSH PRIVATE KEY'));
  const other = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    Buffer.alloc(32, 7),
  ]);
  await as('maintainer').put(one, { host_keys: [`127.0.0.1 ssh-ed25519 ${other.toString('base64')}`] });
  await commitTo(here, project.id, 'main', 'later.txt');
  await run(here);
  const pinned = (await as('maintainer').get(one)).body;
  assert.equal(pinned.last_error, 'The host key of the other system is not the one that is known.');
  assert.notDeepEqual(await refsOf(here, target.id), await refsOf(here, project.id));
  const bad = await as('maintainer').put(one, { host_keys: ['nonsense'] });
  assert.deepEqual([bad.status, bad.body], [400, { message: { host_keys: ['is invalid'] } }]);
});

test('a pull mirror signs in over SSH with its own key', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const ssh = await sshFor(here);
  const copy = await otherProject(here, 'pulled-over-ssh');
  const at = `/projects/${copy.id}/mirror/pull`;
  const url = `ssh://git@127.0.0.1:${ssh.port}/${project.full_path}.git`;
  const { body } = await as('owner').put(at, { enabled: true, url });
  assert.equal(body.url, url);
  await admit(here, body.public_key);
  await run(here);
  assert.deepEqual(await refsOf(here, copy.id), await refsOf(here, project.id));
  const again = (await as('owner').put(at, { enabled: true, url })).body;
  assert.deepEqual([again.public_key, again.host_keys.length], [body.public_key, 1]);
  const elsewhere = (await as('owner').put(at, { url: `${url}x` })).body;
  assert.notEqual(elsewhere.public_key, body.public_key);
  assert.deepEqual(elsewhere.host_keys, []);
});

/** A server of plain TCP. */
async function plainServer(t: TestContext, serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

test('a name that resolves to this machine is refused on connecting, and a hanging server causes a timeout', async (t) => {
  const here = await mirrorPlace();
  const { as, project } = here;
  let connections = 0;
  const port = await plainServer(t, () => {
    connections++;
  });
  const at = `/projects/${project.id}/remote_mirrors`;
  const errorAt = async (url: string): Promise<string> => {
    const { body } = await as('maintainer').post(at, { url, enabled: true });
    await run(here);
    const { last_error } = (await as('maintainer').get(`${at}/${body.id}`)).body;
    await as('maintainer').delete(`${at}/${body.id}`);
    return last_error;
  };
  leadHere(t, 'rebound.example.com');
  await allowLocalHooks(here, false);
  for (const scheme of ['http', 'https', 'ssh', 'git'])
    assert.equal(
      await errorAt(`${scheme}://rebound.example.com:${port}/a.git`),
      'Requests to localhost are not allowed.',
    );
  assert.equal(connections, 0);
  await allowLocalHooks(here);
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  t.mock.method(AbortSignal, 'timeout', (ms: number) => timeout(ms >= 3_600_000 ? 200 : ms));
  for (const scheme of ['http', 'ssh', 'git'])
    assert.equal(await errorAt(`${scheme}://127.0.0.1:${port}/a.git`), 'The run took longer than 180 minutes.');
});

test('a git:// server receives the request for the repository, and its refusal is reported', async (t) => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const asked: string[] = [];
  const port = await plainServer(t, (socket) =>
    socket.once('data', (line) => {
      asked.push(line.toString('utf8').replaceAll('\0', ' ').slice(4).trim());
      const text = 'ERR access denied or repository not exported';
      socket.end(`${(text.length + 4).toString(16).padStart(4, '0')}${text}`);
    }),
  );
  const created = await as('maintainer').post(`/projects/${project.id}/remote_mirrors`, {
    url: `git://127.0.0.1:${port}/a/b.git`,
    enabled: true,
  });
  await run(here);
  const { body } = await as('maintainer').get(`/projects/${project.id}/remote_mirrors/${created.body.id}`);
  assert.match(body.last_error, /access denied or repository not exported/);
  assert.equal(asked[0], `git-upload-pack /a/b.git host=127.0.0.1:${port}  version=2`);
});
