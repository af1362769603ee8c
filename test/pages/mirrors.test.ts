/** The mirrors of a project, in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullMirror, pushMirror } from '../../src/areas/code/mirrors/index.ts';
import { type Browser, browserOf, fillIn, type Shown } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { performQueued } from '../support/jobs.ts';
import { mirrorPlace, otherProject, refsOf } from '../support/mirrors.ts';

/** Sends the first form of a page whose id begins so, as it is. */
async function sendFirst(browser: Browser, path: string, name: string): Promise<Shown> {
  const form = formsIn((await browser.get(path)).html).find(({ id }) => id === name || id.startsWith(`${name}-`))!;
  return browser.send(form.action, name, sentBy(form));
}

test('maintainers add, run and remove mirrors, and see what became of them', async () => {
  const here = await mirrorPlace();
  const { as, project, people, services } = here;
  const copy = await otherProject(here, 'copy');
  const path = `/${project.full_path}/-/settings/repository`;
  const browser = await browserOf(here, people.maintainer);
  assert.match((await browser.get(`/${project.full_path}`)).html, new RegExp(`href="${path}"`));
  assert.match((await browser.get(path)).html, /The repository is pushed nowhere\./);
  const wrong = await browser.send(path, 'add', { url: 'ftp://example.com/a.git' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.html, /Only allowed schemes are http, https, ssh, git/);
  assert.equal((await browser.send(path, 'add', { url: copy.url })).to, `${path}?done=add`);
  assert.equal((await sendFirst(browser, path, 'sync')).status, 303);
  await performQueued(services, [pushMirror]);
  assert.deepEqual(await refsOf(here, copy.id), await refsOf(here, project.id));
  const shown = (await browser.get(path)).html;
  assert.match(shown, /\*\*\*\*\*:\*\*\*\*\*@/);
  assert.match(shown, /finished/);
  assert.ok(!shown.includes(people.owner.token));
  const [mirror] = (await as('owner').get(`/projects/${project.id}/remote_mirrors`)).body;
  await fillIn(browser, path, `change-${mirror.id}`, { keep_divergent_refs: 'true', enabled: 'false' });
  const [changed] = (await as('owner').get(`/projects/${project.id}/remote_mirrors`)).body;
  assert.deepEqual([changed.enabled, changed.keep_divergent_refs], [false, true]);
  assert.equal((await sendFirst(browser, path, 'remove')).status, 303);
  assert.deepEqual((await as('owner').get(`/projects/${project.id}/remote_mirrors`)).body, []);

  const elsewhere = await otherProject(here, 'follower');
  const following = `/${elsewhere.full_path}/-/settings/repository`;
  const wrongLogin = copy.url.replace(people.owner.token, 'glpat-wrong');
  assert.equal((await browser.send(following, 'follow', { url: wrongLogin })).to, `${following}?done=follow`);
  await performQueued(services, [pullMirror]);
  assert.match((await browser.get(following)).html, /Authentication failed\./);
  assert.equal((await sendFirst(browser, following, 'pull')).status, 303);
  assert.equal((await sendFirst(browser, following, 'end_pull')).status, 303);
  assert.equal((await as('owner').get(`/projects/${elsewhere.id}`)).body.mirror, false);
  assert.match((await browser.get(following)).html, /Follow it/);
});

test('nobody else sees them', async () => {
  const here = await mirrorPlace();
  const { project, people } = here;
  const path = `/${project.full_path}/-/settings/repository`;
  const developer = await browserOf(here, people.developer);
  assert.equal((await developer.get(path)).status, 403);
  assert.ok(!(await developer.get(`/${project.full_path}`)).html.includes(path));
  const sent = await developer.send(path, 'add', { url: 'https://git.example.com/a.git' });
  assert.ok([401, 403].includes(sent.status), String(sent.status));
  assert.equal((await (await browserOf(here, people.outsider)).get(path)).status, 404);
});
