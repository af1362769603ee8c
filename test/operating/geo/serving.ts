/** A secondary serves reads beside its primary, and passes writes on. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { clone } from '../../git/work_tree.ts';
import { anonymousBrowser } from '../../support/browser.ts';
import { remoteOf } from '../../support/git.ts';
import { newSshKey, withKey } from '../../support/ssh.ts';
import { eventually, type Site, type Sites } from '../../support/two_sites.ts';
import { rootToken } from '../coppice.ts';
import type { SharedProject } from './repositories.ts';

/** @param project as the API shows it, with three issues at the end */
export async function serving(
  t: TestContext,
  { primary, secondary }: Sites,
  { id, path_with_namespace }: SharedProject,
): Promise<void> {
  const { COPPICE_URL: url } = secondary.environment;
  const path = `/projects/${id}`;
  const remote = remoteOf(url, path_with_namespace, rootToken);

  await t.test('what was written through it can be read at once', async () => {
    for (const title of ['One', 'Two', 'Three']) {
      const written = await secondary.server.root.post(`${path}/issues`, { title });
      assert.equal(written.headers.get('x-geo-served-by'), 'Porto');
      const read = await secondary.server.root.get(`${path}/issues/${written.body.iid}`);
      assert.deepEqual([read.status, read.body.title, read.headers.get('x-geo-served-by')], [200, title, null]);
    }
  });

  await t.test('its metrics say what it has passed on, and how far it is behind', async () => {
    const measured = await eventually('a report', async () => {
      const text = await (await fetch(`${url}/-/metrics`)).text();
      return /^coppice_geo_lag_seconds{node="Lisbon"} 0$/m.test(text) && text;
    });
    assert.match(measured, /^coppice_geo_passed_requests_total [1-9]\d*$/m);
    assert.match(
      measured,
      /^coppice_geo_replicas{node="Lisbon",replicable="project_repositories",state="synced"} \d+$/m,
    );
  });

  await t.test('what is in a repository is read from the copy when that is current', async () => {
    const url = `${path}/repository/files/README.md`;
    const file = await eventually('the copy', async () => {
      const answer = await secondary.server.root.get(url, { ref: 'main' });
      return answer.headers.get('x-geo-served-by') === null && answer;
    });
    assert.equal(file.status, 200);
    const changed = await secondary.server.root.put(url, { branch: 'main', content: 'ripe', commit_message: 'Change' });
    assert.equal(changed.status, 200);
    const read = await secondary.server.root.get(url, { ref: 'main' });
    assert.equal(Buffer.from(read.body.content, 'base64').toString(), 'ripe');
  });

  await t.test('someone signs in on its pages, and their forms are done by the primary', async () => {
    const password = 'a word that only tests pass';
    const { body: root } = await secondary.server.root.get('/user');
    await secondary.server.root.put(`/users/${root.id}`, { password });
    const browser = anonymousBrowser(url);
    const signedIn = await browser.send('/users/sign_in', 'sign_in', { login: root.username, password });
    assert.deepEqual([signedIn.status, signedIn.headers.get('x-geo-served-by')], [303, 'Porto']);
    const page = `/${path_with_namespace}/-/issues/1`;
    const commented = await browser.send(page, 'comment', { body: 'Written from afar' });
    assert.equal(commented.status, 303);
    const shown = await browser.get(page);
    assert.deepEqual([shown.status, shown.headers.get('x-geo-served-by')], [200, null]);
    assert.match(shown.html, /Written from afar/);
    // The answer is that of the primary, for a browser that is on a page of the secondary.
    const refused = await browser.send(page, 'comment', { body: '' });
    assert.deepEqual([refused.status, refused.headers.get('x-geo-served-by')], [400, 'Porto']);
    assert.match(refused.headers.get('content-security-policy')!, new RegExp(`style-src ${url}/assets/`));
  });

  await t.test('a clone of it is current, and what is pushed through it is there for the next one', async () => {
    const work = await clone(remote);
    await work.commit('trees.txt', 'apple\n');
    await work.git('push', '-q', 'origin', 'main');
    const head = await work.git('rev-parse', 'HEAD');
    assert.equal(await (await clone(remote)).git('rev-parse', 'HEAD'), head);
    const there = remoteOf(primary.environment.COPPICE_URL, path_with_namespace, rootToken);
    assert.equal(await (await clone(there)).git('rev-parse', 'HEAD'), head);
  });

  await t.test('the same over SSH, with a key that was added through it', async () => {
    const key = await newSshKey();
    assert.equal((await secondary.server.root.post('/user/keys', { title: 'laptop', key: key.line })).status, 201);
    const addressAt = async ({ server }: Site): Promise<string> => (await server.root.get(path)).body.ssh_url_to_repo;
    const [here, there] = [await addressAt(secondary), await addressAt(primary)];
    assert.notEqual(here, there);
    const work = await clone(here, ...withKey(key.file));
    await work.commit('trees.txt', 'quince\n');
    await work.git('push', '-q', 'origin', 'main');
    const head = await work.git('rev-parse', 'HEAD');
    assert.equal(await (await clone(there, ...withKey(key.file))).git('rev-parse', 'HEAD'), head);
    assert.equal(await (await clone(here, ...withKey(key.file))).git('rev-parse', 'HEAD'), head);
  });
}
