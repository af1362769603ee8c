/** Files are changed with forms, and commits come of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyFork } from '../../src/areas/spaces/projects/index.ts';
import { browserOf, fieldsIn } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { type World, world } from '../support/world.ts';

/** What a file holds. */
async function textOf({ as, project }: World, path: string, ref = 'main'): Promise<string> {
  const { body } = await as('owner').get(`/projects/${project.id}/repository/files/${encodeURIComponent(path)}`, {
    ref,
  });
  return body.content === undefined ? String(body.message) : Buffer.from(body.content, 'base64').toString();
}

const titleOf = async ({ as, project }: World, ref = 'main'): Promise<string> =>
  (await sent(as('owner').get(`/projects/${project.id}/repository/commits/${ref}`))).title;

/** A world, a browser of a maintainer in it, and the start of the addresses of its project. */
async function maintained() {
  const here = await filledWorld();
  return { here, browser: await browserOf(here, here.people.maintainer), at: `/${here.project.full_path}/-` };
}

test('a file is edited on its branch, and keeps its line ends', async () => {
  const { here, browser, at } = await maintained();
  const write = (file_path: string, content: string) =>
    sent(
      here.as('maintainer').post(`/projects/${here.project.id}/repository/files/${file_path}`, {
        ...{ branch: 'main', commit_message: 'Add', content },
      }),
    );
  await write('unix.txt', 'a\nb\n');
  await write('dos.txt', 'a\r\nb\r\n');
  for (const [name, expected] of [
    ['unix.txt', 'a\nc\n'],
    ['dos.txt', 'a\r\nc\r\n'],
  ] as const) {
    const path = `${at}/edit/main/${name}`;
    const fields = fieldsIn((await browser.get(path)).html, 'save');
    assert.deepEqual([fields.branch, fields.commit_message], [['main'], [`Update ${name}`]]);
    const { status, to } = await browser.send(path, 'save', { ...fields, content: 'a\r\nc\r\n', commit_message: '' });
    assert.deepEqual([status, to], [303, `${at}/blob/main/${name}`]);
    assert.equal(await textOf(here, name), expected);
    assert.equal(await titleOf(here), `Update ${name}`);
  }
  const path = `${at}/edit/main/unix.txt`;
  const fields = fieldsIn((await browser.get(path)).html, 'save');
  const moved = await browser.send(path, 'save', { ...fields, file_path: 'old/unix.txt', commit_message: 'Move it' });
  assert.equal(moved.to, `${at}/blob/main/old/unix.txt`);
  assert.equal(await textOf(here, 'old/unix.txt'), 'a\nc\n');
  assert.equal((await browser.get(path)).status, 404);
});

test('a file that has changed meanwhile is not overwritten unseen, and no text is lost', async () => {
  const { here, browser, at } = await maintained();
  const path = `${at}/edit/main/README.md`;
  const fields = fieldsIn((await browser.get(path)).html, 'save');
  await here.as('owner').put(`/projects/${here.project.id}/repository/files/README.md`, {
    ...{ branch: 'main', commit_message: 'Faster', content: 'of the owner' },
  });
  const refused = await browser.send(path, 'save', { ...fields, content: 'of the maintainer', branch: 'main' });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /The file has changed since you began/);
  assert.match(refused.html, /<textarea id="present"[^>]*>\nof the owner</);
  assert.equal(await textOf(here, 'README.md'), 'of the owner');
  const again = fieldsIn(refused.html, 'save');
  assert.deepEqual(again.content, ['of the maintainer']);
  assert.equal((await browser.send(path, 'save', again)).status, 303);
  assert.equal(await textOf(here, 'README.md'), 'of the maintainer');

  const deletion = `${at}/delete/main/README.md`;
  const old = fieldsIn((await browser.get(deletion)).html, 'save');
  await here.as('owner').put(`/projects/${here.project.id}/repository/files/README.md`, {
    ...{ branch: 'main', commit_message: 'Again', content: 'once more' },
  });
  assert.equal((await browser.send(deletion, 'save', old)).status, 409);
  const fresh = fieldsIn((await browser.get(deletion)).html, 'save');
  assert.equal((await browser.send(deletion, 'save', fresh)).to, `${at}/tree/main`);
  assert.equal(await textOf(here, 'README.md'), '404 File Not Found');
});

test('another branch is made from the one that is shown, and leads to a merge request', async () => {
  const { here, browser, at } = await maintained();
  const path = `${at}/new/main/docs`;
  const fields = fieldsIn((await browser.get(`${path}?file_name=a.md`)).html, 'save');
  assert.deepEqual([fields.file_name, fields.commit_message], [['a.md'], ['Add a.md']]);
  const content = '# A\r\n';
  const proposed = await browser.send(path, 'save', { ...fields, content, branch: 'side' });
  const query = new URLSearchParams({
    'merge_request[source_branch]': 'side',
    'merge_request[target_branch]': 'main',
  });
  assert.equal(proposed.to, `${at}/merge_requests/new?${query}`);
  assert.equal(await textOf(here, 'docs/a.md', 'side'), '# A\n');
  assert.equal(await textOf(here, 'docs/a.md'), '404 File Not Found');
  const form = await browser.get(proposed.to!);
  assert.match(form.html, /<option value="side" selected>/);
  // Without the box, the file is shown.
  const plain = await browser.send(path, 'save', { ...fields, content, branch: 'other', merge_request: 'false' });
  assert.equal(plain.to, `${at}/blob/other/docs/a.md`);
  const taken = await browser.send(path, 'save', { ...fields, content, branch: 'other' });
  assert.equal(taken.status, 400);
  assert.match(taken.html, /A branch called &#39;other&#39; already exists|A branch called 'other' already exists/);
  assert.deepEqual(fieldsIn(taken.html, 'save').content, [content]);
  // From a tag, only new branches can start.
  await sent(
    here.as('maintainer').post(`/projects/${here.project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' }),
  );
  const tagged = fieldsIn((await browser.get(`${at}/create_dir/v1`)).html, 'save');
  assert.deepEqual(tagged.branch, [`${here.people.maintainer.username}-patch-1`]);
  const folder = await browser.send(`${at}/create_dir/v1`, 'save', {
    ...tagged,
    folder_name: 'b/c',
    merge_request: 'false',
  });
  assert.equal(folder.to, `${at}/tree/${tagged.branch![0]}/b/c`);
  assert.equal(await textOf(here, 'b/c/.gitkeep', tagged.branch![0]), '');
});

test('files are uploaded as they are, and replace those of the same name', async () => {
  const { here, browser, at } = await maintained();
  const picture = Buffer.from([0x89, 0x50, 0, 0xff, 0x0d, 0x0a]);
  const form = (files: readonly (readonly [name: string, content: string | Buffer])[]) => {
    const data = new FormData();
    for (const [name, content] of files) data.append('files', new Blob([content]), name);
    data.set('branch', 'main');
    data.set('commit_message', '');
    return data;
  };
  const files = [
    ['a.png', picture],
    ['README.md', 'replaced'],
    ['__proto__', 'odd'],
  ] as const;
  assert.equal((await browser.sendFiles(`${at}/upload/main`, 'save', form(files))).to, `${at}/tree/main`);
  assert.equal(await titleOf(here), 'Upload 3 files');
  assert.equal(await textOf(here, 'README.md'), 'replaced');
  const { body } = await here.as('owner').get(`/projects/${here.project.id}/repository/files/a.png`, { ref: 'main' });
  assert.equal(body.content, picture.toString('base64'));
  const folder = await browser.sendFiles(`${at}/upload/main/docs/new`, 'save', form([['b.txt', 'b']]));
  assert.equal(folder.to, `${at}/tree/main/docs/new`);
  assert.equal(await textOf(here, 'docs/new/b.txt'), 'b');
  const none = await browser.sendFiles(`${at}/upload/main`, 'save', form([]));
  assert.equal(none.status, 400);
  assert.match(none.html, /Files is empty/);
  const large = form([['large', Buffer.alloc(7_000_000)]]);
  assert.equal((await browser.sendFiles(`${at}/upload/main`, 'save', large)).status, 413);
});

test('what protection and push rules refuse is said at the form, and those who may not push get a branch of their own', async () => {
  const { here, browser, at } = await maintained();
  await sent(here.as('owner').post(`/projects/${here.project.id}/push_rule`, { commit_message_regex: '^TREE-' }));
  const path = `${at}/edit/main/README.md`;
  const fields = { ...fieldsIn((await browser.get(path)).html, 'save'), content: 'new' };
  const refused = await browser.send(path, 'save', fields);
  assert.equal(refused.status, 400);
  assert.match(refused.html, /role="alert">[^<]*TREE-/);
  assert.deepEqual(fieldsIn(refused.html, 'save').content, ['new']);

  const developer = await browserOf(here, here.people.developer);
  await here.as('owner').post(`/projects/${here.project.id}/protected_branches`, {
    ...{ name: 'main', push_access_level: 40 },
  });
  const offered = await developer.get(path);
  assert.match(offered.html, /You may not push to main/);
  const own = fieldsIn(offered.html, 'save');
  assert.deepEqual(own.branch, [`${here.people.developer.username}-patch-1`]);
  const forced = await developer.send(path, 'save', { ...own, branch: 'main', content: 'x', commit_message: 'TREE-1' });
  assert.equal(forced.status, 403);
  assert.match(forced.html, /You are not allowed to push into this branch/);
});

test('who may not change a project proposes from a fork', async () => {
  const { here, at } = await maintained();
  await here.as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await here.as('owner').put(`/projects/${here.project.id}`, { visibility: 'public' });
  const outsider = await browserOf(here, here.people.outsider);
  const path = `${at}/edit/main/README.md`;
  const before = await outsider.get(path);
  assert.match(before.html, /In a fork of your own you may/);
  assert.equal((await outsider.send(path, 'save', { branch: 'x', file_path: 'x', content: '' })).status, 403);
  assert.equal((await outsider.send(path, 'fork')).to, path);
  assert.match((await outsider.get(path)).html, /is being copied/);
  await performQueued(here.services, [copyFork]);
  const fields = fieldsIn((await outsider.get(path)).html, 'save');
  const { to } = await outsider.send(path, 'save', { ...fields, content: 'from outside' });
  const fork = `/${here.people.outsider.username}/${here.project.path}`;
  assert.ok(to!.startsWith(`${fork}/-/merge_requests/new?`), to);
  assert.match((await outsider.get(to!)).html, new RegExp(`Target branch in ${here.project.full_path}`));
});

test('the first file of an empty project makes its branch', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.maintainer);
  const at = `/${here.project.full_path}/-`;
  const fields = fieldsIn((await browser.get(`${at}/new/main`)).html, 'save');
  const { to } = await browser.send(`${at}/new/main`, 'save', { ...fields, file_name: 'README.md', content: '# Hi' });
  assert.equal(to, `${at}/blob/main/README.md`);
  assert.equal(await textOf(here, 'README.md'), '# Hi');
  assert.equal((await browser.get(`${at}/new/other`)).status, 404);
});
