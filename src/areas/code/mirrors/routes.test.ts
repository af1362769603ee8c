import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { commitTo, mirrorPlace, otherProject, refsOf } from '../../../../test/support/mirrors.ts';
import { allowLocalHooks } from '../../../../test/support/receiver.ts';
import { headOf } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { pushMirror, tellOfMirrorFailure } from './index.ts';

const at = ({ project }: World) => `/projects/${project.id}/remote_mirrors`;

/** Runs the push mirrors that wait. @returns how many ran */
const push = async ({ services }: World): Promise<number> => (await performQueued(services, [pushMirror])).length;

/** Adds an enabled push mirror to the world's project, and runs it. */
async function mirrored(here: World, url: string, settings: object = {}): Promise<string> {
  const created = await here.as('maintainer').post(at(here), { url, enabled: true, ...settings });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  await push(here);
  return `${at(here)}/${created.body.id}`;
}

test('a push mirror receives every branch and tag, and later changes; its login is never shown', async () => {
  const here = await mirrorPlace();
  const { as, project, people } = here;
  const target = await otherProject(here, 'copy');
  const created = await as('maintainer').post(at(here), { url: target.url, enabled: true });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id } = created.body;
  assert.deepEqual(created.body, {
    id,
    enabled: true,
    url: target.url.replace(/\/\/[^@]+@/, '//*****:*****@'),
    auth_method: 'password',
    update_status: 'scheduled',
    last_update_at: null,
    last_update_started_at: null,
    last_successful_update_at: null,
    last_error: null,
    only_protected_branches: false,
    mirror_branch_regex: null,
    keep_divergent_refs: false,
    host_keys: [],
  });
  await as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  assert.equal(await push(here), 1);
  const done = await as('maintainer').get(`${at(here)}/${id}`);
  assert.deepEqual([done.body.update_status, done.body.last_error], ['finished', null]);
  const head = await headOf(here);
  assert.deepEqual(await refsOf(here, target.id), { main: head, 'tag v1': head });

  const side = await commitTo(here, project.id, 'side', 'a.txt');
  assert.equal(await push(here), 1);
  assert.deepEqual(await refsOf(here, target.id), { main: head, side, 'tag v1': head });
  await as('maintainer').delete(`/projects/${project.id}/repository/branches/side`);
  await as('maintainer').delete(`/projects/${project.id}/repository/tags/v1`);
  await push(here);
  assert.deepEqual(await refsOf(here, target.id), { main: head });
  assert.equal(await push(here), 0);
  const list = await as('maintainer').get(at(here));
  assert.deepEqual(
    list.body.map((mirror: { id: number }) => mirror.id),
    [id],
  );
  assert.ok(!JSON.stringify([created.body, done.body, list.body]).includes(people.owner.token));
});

test('a push mirror with a selection sends only selected refs, and deletes none', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const side = await commitTo(here, project.id, 'release/1', 'a.txt');
  await as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  await as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'w1', ref: 'main' });
  await as('maintainer').post(`/projects/${project.id}/protected_tags`, { name: 'v*' });
  const [protectedOnly, byName] = [await otherProject(here, 'protected'), await otherProject(here, 'regex')];
  const head = (await headOf(here))!;
  await mirrored(here, protectedOnly.url, { only_protected_branches: true });
  const one = await mirrored(here, byName.url, { mirror_branch_regex: '^release/' });
  assert.deepEqual(await refsOf(here, protectedOnly.id), { main: head, 'tag v1': head });
  assert.deepEqual(await refsOf(here, byName.id), { 'release/1': side, 'tag v1': head, 'tag w1': head });
  await as('maintainer').delete(`/projects/${project.id}/repository/branches/${encodeURIComponent('release/1')}`);
  await push(here);
  assert.ok('release/1' in (await refsOf(here, byName.id)));
  const changed = await as('maintainer').put(one, { only_protected_branches: true });
  assert.deepEqual([changed.body.only_protected_branches, changed.body.mirror_branch_regex], [true, null]);
  const unchanged = await as('maintainer').put(one, {});
  assert.deepEqual([unchanged.status, unchanged.body.only_protected_branches], [200, true]);
  const long = await as('maintainer').put(one, { mirror_branch_regex: 'x'.repeat(256) });
  assert.deepEqual(long.body.message, { mirror_branch_regex: ['is too long (maximum is 255 characters)'] });
  const both = await as('maintainer').put(one, { only_protected_branches: true, mirror_branch_regex: 'x' });
  const text = 'only_protected_branches, mirror_branch_regex are mutually exclusive';
  assert.deepEqual([both.status, both.body], [400, { message: text, error: text }]);
  const broken = await as('maintainer').put(one, { mirror_branch_regex: '(' });
  assert.equal(broken.status, 400);
  assert.match(broken.body.message.mirror_branch_regex[0], /^not valid RE2 syntax: /);
});

test('diverged refs are overwritten, or kept and reported', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const [kept, lost] = [await otherProject(here, 'kept'), await otherProject(here, 'lost')];
  const keeping = await mirrored(here, kept.url, { keep_divergent_refs: true });
  await mirrored(here, lost.url);
  for (const { id } of [kept, lost]) {
    await as('owner').post(`/projects/${id}/protected_branches`, { name: 'main', allow_force_push: true });
    await as('owner').delete(`/projects/${id}/protected_branches/main`);
  }
  const theirs = await commitTo(here, kept.id, 'main', 'theirs.txt');
  await commitTo(here, lost.id, 'main', 'theirs.txt');
  const extra = await commitTo(here, kept.id, 'extra', 'extra.txt');
  const ours = await commitTo(here, project.id, 'main', 'ours.txt');
  await push(here);
  assert.deepEqual(await refsOf(here, kept.id), { extra, main: theirs });
  assert.deepEqual(await refsOf(here, lost.id), { main: ours });
  const shown = (await as('maintainer').get(keeping)).body;
  assert.deepEqual(
    [shown.update_status, shown.last_error],
    ['failed', 'Some refs have diverged and have not been updated on the remote:\n\nrefs/heads/main'],
  );
});

test('an unreachable push mirror is tried three times, then its maintainers are notified once', async () => {
  const here = await mirrorPlace();
  const { as, services, project, people } = here;
  const target = await otherProject(here, 'refusing');
  const url = target.url.replace(people.owner.token, 'glpat-wrong');
  const created = await as('maintainer').post(at(here), { url });
  const one = `${at(here)}/${created.body.id}`;
  assert.deepEqual([created.body.enabled, created.body.update_status], [false, 'none']);
  const asleep = await as('maintainer').post(`${one}/sync`);
  assert.deepEqual(
    [asleep.status, asleep.body],
    [400, { message: 'Cannot proceed with the push mirroring. Please verify your mirror configuration.' }],
  );
  const works = [pushMirror, tellOfMirrorFailure];
  await mailOf(services, works);
  await as('maintainer').put(one, { enabled: true });
  const mails = await mailOf(services, works);
  assert.deepEqual(
    mails.map(({ to }) => [to].flat()[0]!.address).toSorted(),
    [...[people.maintainer, people.owner].map(({ username }) => `${username}@example.com`)].toSorted(),
  );
  assert.equal(mails[0]!.subject, `The mirror of ${project.full_path} has failed`);
  assert.ok(!JSON.stringify(mails).includes('glpat-wrong'));
  const shown = async () => {
    const { body } = await as('maintainer').get(one);
    return [body.update_status, body.last_error];
  };
  assert.deepEqual(await shown(), ['failed', 'Authentication failed.']);
  assert.equal((await as('maintainer').post(`${one}/sync`)).status, 204);
  assert.deepEqual(await shown(), ['scheduled', 'Authentication failed.']);
  assert.deepEqual(await mailOf(services, works), []);
  assert.deepEqual(await shown(), ['failed', 'Authentication failed.']);
});

test('maintainers manage mirrors; other readers of the project get 401, and only administrators manage them when mirrors are disabled', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const url = 'https://host.example/a.git';
  assert.equal((await as('developer').post(at(here), { url })).status, 401);
  assert.equal((await as('outsider').post(at(here), { url })).status, 404);
  const byKey = { url: 'ssh://git@host.example/a.git', auth_method: 'ssh_public_key' };
  const created = await as('maintainer').post(at(here), byKey);
  const one = `${at(here)}/${created.body.id}`;
  for (const call of [as('developer').get(one), as('developer').delete(one), as('reporter').get(at(here))])
    assert.equal((await call).status, 401);
  const key = await as('maintainer').get(`${one}/public_key`);
  assert.match(key.body.public_key, /^ssh-ed25519 [A-Za-z0-9+/=]+ coppice-mirror$/);
  await as('maintainer').put(one, { auth_method: 'password' });
  const none = await as('maintainer').get(`${one}/public_key`);
  assert.deepEqual([none.status, none.body], [404, { message: '404 Not Found' }]);
  const web = await as('maintainer').post(at(here), { url, auth_method: 'ssh_public_key' });
  assert.equal((await as('maintainer').get(`${at(here)}/${web.body.id}/public_key`)).status, 404);
  const unknown = await as('maintainer').get(`${at(here)}/999999`);
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Not found' }]);
  const second = await otherProject(here, 'another');
  assert.equal((await as('owner').get(`/projects/${second.id}/remote_mirrors/${created.body.id}`)).status, 404);
  for (let count = 2; count < 10; count++) await as('maintainer').post(at(here), { url });
  const many = await as('maintainer').post(at(here), { url });
  assert.deepEqual(
    [many.status, many.body],
    [400, { message: { base: ['Maximum number of push mirrors (10) exceeded'] } }],
  );
  await as('admin').put('/application/settings', { mirror_available: false });
  assert.equal((await as('maintainer').get(at(here))).status, 403);
  assert.equal((await as('admin').get(at(here))).body.length, 10);
  await as('admin').put('/application/settings', { mirror_available: true });
  assert.equal((await as('maintainer').delete(one)).status, 204);
  assert.equal((await as('maintainer').get(one)).status, 404);
  await as('owner').delete(`/projects/${project.id}`);
});

test('a forbidden address is refused when it is stored, and when it is connected to', async () => {
  const here = await mirrorPlace();
  const { as } = here;
  const target = await otherProject(here, 'inside');
  const one = await mirrored(here, target.url);
  await allowLocalHooks(here, false);
  for (const url of ['http://127.0.0.1/a', 'ssh://git@127.1/a', 'ext::sh -c id', 'http://10.1.2.3/a']) {
    const refused = await as('maintainer').post(at(here), { url });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message.url[0], /^is blocked: /);
  }
  assert.equal((await as('maintainer').get(at(here))).body.length, 1);
  await as('maintainer').post(`${one}/sync`);
  await push(here);
  const shown = (await as('maintainer').get(one)).body;
  assert.deepEqual([shown.update_status, shown.last_error], ['failed', 'Requests to localhost are not allowed.']);
});

test('redirects are not followed, and messages of a malicious server are shortened and stripped of the login', async (t) => {
  const here = await mirrorPlace();
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    if (request.url!.startsWith('/moved')) return void response.writeHead(302, { location: here.url }).end();
    const line = `ERR ${'x'.repeat(3000)} hunter2`;
    const packet = `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
    response.end(`001e# service=git-upload-pack\n0000${packet}`);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const base = `http://ada:hunter2@127.0.0.1:${(server.address() as AddressInfo).port}`;
  const errorAt = async (path: string): Promise<string> => {
    const one = await mirrored(here, base + path);
    const { body } = await here.as('maintainer').get(one);
    await here.as('maintainer').delete(one);
    return body.last_error;
  };
  assert.equal(await errorAt('/moved/a.git'), 'The other system redirects elsewhere, which is not followed.');
  const error = await errorAt('/said/a.git');
  assert.match(error, /xxx/);
  assert.ok(!error.includes('hunter2') && error.length <= 1024);
  assert.ok(asked.every((path) => /^\/(?:moved|said)\//.test(path!)));
});
