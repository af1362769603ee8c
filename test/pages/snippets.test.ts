/** The pages of snippets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fillIn } from '../support/browser.ts';
import { world } from '../support/world.ts';

test('a snippet of several files is written, changed and deleted in a project', async () => {
  const here = await world();
  const { as, project, people } = here;
  const address = `/${project.full_path}/-/snippets`;
  const browser = await browserOf(here, people.reporter);
  assert.ok((await browser.get(address)).html.includes(`href="${address}/new"`));
  const first = { title: 'Pick', description: 'How to *pick*', path_0: 'pick.sh', content_0: 'pick\r\napples\r\n' };
  const room = await browser.send(`${address}/new`, 'more', { ...first, asked: '1' });
  assert.equal(room.status, 200);
  assert.match(
    room.html,
    /There is room for another file\.[\s\S]*pick\r?\napples[\s\S]*name="path_1"[\s\S]*name="asked" value="2"/,
  );
  const wrong = await fillIn(browser, `${address}/new?files=2`, 'save', { ...first, path_1: '../out', content_1: 'x' });
  assert.match(wrong.html, /id="save-path_1-reason">Name of the file should be a valid file path/);
  const made = await fillIn(browser, `${address}/new?files=2`, 'save', { ...first, path_1: 'b.md', content_1: '# B' });
  const { id, files } = (await as('reporter').get(`/projects/${project.id}/snippets`)).body[0];
  assert.deepEqual([made.to, files.length], [`${address}/${id}`, 2]);
  const { html } = await browser.get(made.to!);
  assert.match(html, /How to <em>pick<\/em>[\s\S]*pick\.sh[\s\S]*id="F2L2"/);

  const changes = { title: 'Pick all', path_0: 'c.md', content_0: 'C', remove_1: 'true' };
  const saved = await fillIn(browser, `${made.to}/edit`, 'save', changes);
  assert.equal(saved.to, made.to);
  const after = (await as('reporter').get(`/projects/${project.id}/snippets/${id}`)).body;
  assert.deepEqual([after.title, after.files.map(({ path }: { path: string }) => path)], ['Pick all', ['c.md']]);
  const late = await browser.send(`${made.to}/edit`, 'save', { title: 'Late', path_0: 'c.md', content_0: 'D' });
  assert.equal(late.status, 409);

  await browser.send(made.to!, 'comment', { body: 'Ripe *now*' });
  assert.match((await browser.get(made.to!)).html, /Ripe <em>now<\/em>/);
  const other = await browserOf(here, people.developer);
  assert.equal((await other.get(`${made.to}/edit`)).status, 403);
  assert.equal((await browser.send(made.to!, 'remove')).to, address);
  const guest = await browserOf(here, people.guest);
  assert.equal((await guest.get(`${address}/new`)).status, 403);
});

test('personal snippets are listed as one’s own, the public ones, and all', async () => {
  const here = await world();
  const { people } = here;
  const browser = await browserOf(here, people.outsider);
  const write = (title: string, visibility: string) =>
    fillIn(browser, '/-/snippets/new', 'save', { title, visibility, path_0: 'a.txt', content_0: title });
  const made = await write('Hidden seeds', 'private');
  assert.match(made.to!, /^\/-\/snippets\/\d+$/);
  await write('Open seeds', 'public');
  const own = (await browser.get('/dashboard/snippets')).html;
  assert.ok(own.includes('Hidden seeds') && own.includes('Open seeds'));
  const reader = await browserOf(here, people.guest);
  assert.ok(!(await reader.get('/dashboard/snippets')).html.includes('seeds'));
  for (const scope of ['public', 'all']) {
    const { html } = await reader.get(`/dashboard/snippets?scope=${scope}`);
    assert.ok(html.includes('Open seeds') && !html.includes('Hidden seeds'), scope);
  }
  await fillIn(browser, `${made.to}/edit`, 'save', { visibility: 'internal' });
  assert.equal((await reader.get(made.to!)).status, 200);
  assert.equal((await browser.send(made.to!, 'remove')).to, '/dashboard/snippets');
});
