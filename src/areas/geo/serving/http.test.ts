/** What a secondary passes on, seen through a second server on the database of the primary: what is written there is here at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begin, clone, remoteFor } from '../../../../test/git/work_tree.ts';
import { clientOf } from '../../../../test/support/client.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { atFileEnd } from '../../../../test/support/file_end.ts';
import { type RunningServer, startServer } from '../../../../test/support/populate.ts';
import { sshFor, withKey } from '../../../../test/support/ssh.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { connect } from '../../../db/index.ts';
import { newCredential } from '../link/credential_rules.ts';
import { sign } from '../link/signature_rules.ts';
import { sshAtPrimary } from './ssh_actions.ts';

const secret = { COPPICE_SECRET_KEY: 'the-key-of-both-sites-0123456789abcdef' };

interface Sites {
  here: World;
  secondary: RunningServer;
}

let started: Promise<Sites> | undefined;

async function start(): Promise<Sites> {
  const here = await world({
    environment: { ...secret, COPPICE_GEO_ROLE: 'primary', COPPICE_GEO_NODE_NAME: 'Münster' },
  });
  const geo = { COPPICE_GEO_ROLE: 'secondary', COPPICE_GEO_NODE_NAME: 'near', COPPICE_GEO_PRIMARY_URL: here.url };
  await here.db
    .insertInto('geo_nodes')
    .values([
      { name: 'near', url: 'https://near.example/', credential: newCredential(here.services.secrets) },
      { name: 'Münster', url: 'https://first.example/', primary: true },
    ])
    .execute();
  const { connectionString } = await testDatabase();
  const reading = connect({ connectionString, max: 4, reads_only: true });
  atFileEnd(() => reading.destroy());
  const secondary = await startServer(reading, { environment: { ...secret, ...geo } });
  atFileEnd(secondary.stop);
  return { here, secondary };
}

const sites = () => (started ??= start());

test('responses show whether a secondary served or forwarded the request', async () => {
  const { here, secondary } = await sites();
  const near = clientOf(`${secondary.url}/api/v4`, here.people.owner.token);
  const read = await near.get(`/projects/${here.project.id}`);
  assert.equal(read.headers.get('x-geo-site'), 'near');
  assert.equal(read.headers.get('x-geo-served-by'), null);
  const written = await near.post(`/projects/${here.project.id}/issues`, { title: 'Ripe' });
  assert.equal(written.status, 201);
  assert.equal(written.headers.get('x-geo-site'), 'near');
  assert.equal(written.headers.get('x-geo-served-by'), encodeURI('Münster'));
  const found = await near.get(`/projects/${here.project.id}/issues/${written.body.iid}`);
  assert.equal(found.body.title, 'Ripe');
  const refused = await near.post(`/projects/${here.project.id}/issues`, {});
  assert.deepEqual([refused.status, refused.body.error], [400, 'title is missing']);
});

test('a write is forwarded with the address of its caller', async () => {
  const { here, secondary } = await sites();
  const person = await here.person();
  await clientOf(`${secondary.url}/api/v4`, person.token).post('/user/keys', {});
  const { last_used_ips } = await here.db
    .selectFrom('personal_access_tokens')
    .select('last_used_ips')
    .where('user_id', '=', person.id)
    .executeTakeFirstOrThrow();
  assert.deepEqual(last_used_ips, ['127.0.0.1']);
  const claimed = { 'private-token': person.token, 'x-forwarded-for': '203.0.113.7', 'x-geo-signature': 'Geo made-up' };
  const answer = await fetch(`${here.url}/api/v4/user`, { headers: claimed });
  assert.equal(answer.status, 401);
});

test('a request is forwarded only once', async () => {
  const { here, secondary } = await sites();
  const headers = {
    'x-geo-signature': sign(Buffer.alloc(32), 'near', { method: 'GET', path: '/', digest: '' }, new Date()),
  };
  const answer = await fetch(`${secondary.url}/api/v4/version`, { headers });
  assert.deepEqual([answer.status, await answer.json()], [508, { message: '508 Loop Detected' }]);
  assert.equal((await here.as('owner').get('/version')).headers.get('x-geo-served-by'), null);
});

test('without the primary, reads continue and writes are refused with a time for a retry', async () => {
  const { here } = await sites();
  const geo = {
    COPPICE_GEO_ROLE: 'secondary',
    COPPICE_GEO_NODE_NAME: 'alone',
    COPPICE_GEO_PRIMARY_URL: 'http://127.0.0.1:9',
  };
  const alone = await startServer(here.db, { environment: { ...secret, ...geo } });
  atFileEnd(alone.stop);
  const client = clientOf(`${alone.url}/api/v4`, here.people.owner.token);
  assert.equal((await client.get(`/projects/${here.project.id}`)).status, 200);
  const refused = await client.post(`/projects/${here.project.id}/issues`, { title: 'Late' });
  assert.equal(refused.status, 503);
  assert.deepEqual(refused.body, { message: '503 Service Unavailable - The primary site cannot be reached.' });
  assert.equal(refused.headers.get('retry-after'), '10');
  const push = await fetch(`${alone.url}/${here.project.full_path}.git/info/refs?service=git-receive-pack`);
  assert.equal(push.status, 503);
  assert.equal(await push.text(), 'Service Unavailable - The primary site cannot be reached.');
});

test('git fetches through a secondary before it has a copy, and pushes through it, also over SSH', async () => {
  const { here, secondary } = await sites();
  const near = await begin(remoteFor({ ...here, url: secondary.url }, 'maintainer'), 'main');
  await near.commit('README.md', 'one\n');
  await near.git('push', '-q', 'origin', 'main');
  const file = await here.as('owner').get(`/projects/${here.project.id}/repository/files/README.md`, { ref: 'main' });
  assert.equal(file.status, 200);
  const read = await clientOf(`${secondary.url}/api/v4`, here.people.owner.token).get(
    `/projects/${here.project.id}/repository/files/README.md`,
    { ref: 'main' },
  );
  assert.equal(read.headers.get('x-geo-served-by'), encodeURI('Münster'));
  assert.deepEqual(read.body, file.body);

  const far = { ...here, services: secondary.services };
  const ssh = await sshFor(far, { elsewhere: sshAtPrimary(secondary.services) });
  const key = await ssh.keyOf('maintainer');
  const config = withKey(key.file, ssh.hostKey);
  await near.git('remote', 'set-url', 'origin', ssh.remote());
  await near.commit('README.md', 'two\n');
  await near.git(...config, 'push', '-q', 'origin', 'main', 'main:refs/heads/other');
  const cloned = await clone(ssh.remote(), ...config);
  assert.equal(await cloned.git('rev-parse', 'HEAD'), await near.git('rev-parse', 'HEAD'));
  await near.commit('README.md', 'two and a half\n');
  await near.git(...config, 'push', '-q', 'origin', 'main');
  await cloned.git(...config, 'fetch', '-q', 'origin');
  assert.equal(await cloned.git('rev-parse', 'origin/main'), await near.git('rev-parse', 'HEAD'));
  await near.git(...config, 'push', '-q', 'origin', '--delete', 'other');
  await near.git(...config, 'push', '-q', 'origin', 'main');
  const branches = await here.as('owner').get(`/projects/${here.project.id}/repository/branches`);
  assert.deepEqual(
    branches.body.map(({ name }: { name: string }) => name),
    ['main'],
  );
  const reporter = withKey((await ssh.keyOf('reporter')).file, ssh.hostKey);
  await near.commit('README.md', 'three\n');
  await assert.rejects(near.git(...reporter, 'push', '-q', 'origin', 'main'), /not allowed to push/);
});
