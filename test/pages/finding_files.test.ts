/** Finding one's way among files: other refs, paths, the tree beside a file, and who changed which line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

type Files = Readonly<Record<string, string>>;

/** Commits files, and gives the id of the commit. */
async function commit({ as, project }: World, message: string, files: Files, more: object = {}): Promise<string> {
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const change = { branch: 'main', commit_message: message, actions, ...more };
  return (await sent(as('maintainer').post(`/projects/${project.id}/repository/commits`, change))).id;
}

/** A world with files, the start of the addresses of its project, and what a page there shows. */
async function shownWorld() {
  const here = await filledWorld();
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}/-`;
  const shown = async (path: string): Promise<string> => {
    const { status, html } = await browser.get(path);
    assert.equal(status, 200, path);
    return html;
  };
  return { here, browser, at, shown };
}

/** The links of a page, as [text, address]. */
const linksIn = (html: string): [string, string][] =>
  [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, href, text]) => [
    text!.replaceAll(/<[^>]+>/g, '').trim(),
    href!,
  ]);

test('the switch between branches and tags keeps the page and the path, and searches', async () => {
  const { here, browser, at, shown } = await shownWorld();
  await commit(here, 'Add', { 'src/pick.ts': 'one\n' });
  for (const name of ['side', 'fix/ä#1'])
    await sent(
      here.as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: name, ref: 'main' }),
    );
  await sent(
    here.as('maintainer').post(`/projects/${here.project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' }),
  );
  for (const word of ['tree', 'blob', 'blame', 'commits']) {
    const path = word === 'tree' ? 'src' : 'src/pick.ts';
    const links = new Map(linksIn(await shown(`${at}/${word}/main/${path}`)));
    for (const [name, escaped] of [
      ['side', 'side'],
      ['fix/ä#1', 'fix/%C3%A4%231'],
      ['v1', 'v1'],
    ] as const) {
      const { to } = await browser.get(links.get(name)!);
      assert.equal(to, `${at}/${word}/${escaped}/${path}`);
      await shown(to!);
    }
  }
  // What the other ref has not is left out, from the end of the path on.
  await commit(here, 'Add', { 'src/deep/new.ts': '', 'src/new': '' });
  for (const [word, path, nearest] of [
    ['blob', 'src/deep/new.ts', 'tree/side/src'],
    ['blame', 'src', 'tree/side/src'],
    ['tree', 'src/pick.ts', 'blob/side/src/pick.ts'],
    ['commits', 'none', 'tree/side'],
  ] as const)
    assert.equal((await browser.get(`${at}/switch/${word}/side/${path}`)).to, `${at}/${nearest}`);
  for (const wrong of ['edit/main/src/pick.ts', 'constructor/main', 'tree/none'])
    assert.equal((await browser.get(`${at}/switch/${wrong}`)).status, 404);
  const found = await shown(`${at}/tree/main?refs=SID`);
  assert.match(found, /<details class="menu" name="menu" open>/);
  assert.deepEqual(
    linksIn(found)
      .map(([name]) => name)
      .filter((name) => ['main', 'side', 'v1'].includes(name)),
    ['side'],
  );
  assert.match(await shown(`${at}/tree/main?refs=nothing`), /No branch or tag has this name/);
});

test('a file is found by parts of its path', async () => {
  const { here, browser, at, shown } = await shownWorld();
  await commit(here, 'Add', { 'src/pick.ts': '', 'docs/pick.md': '', 'src/a&b.ts': '' });
  const pathsIn = (html: string) =>
    linksIn(html.slice(html.indexOf('id="found"'), html.indexOf('</main>'))).map(([path]) => path);
  assert.deepEqual(pathsIn(await shown(`${at}/find_file/main`)).includes('docs/pick.md'), true);
  assert.deepEqual(pathsIn(await shown(`${at}/find_file/main?search=PICK`)), ['src/pick.ts', 'docs/pick.md']);
  assert.deepEqual(pathsIn(await shown(`${at}/find_file/main?search=ts+src+pick`)), ['src/pick.ts']);
  const [[, odd] = []] = linksIn((await shown(`${at}/find_file/main?search=a%26b`)).split('id="found"')[1]!);
  assert.match(await shown(odd!), /a&amp;b\.ts/);
  assert.match(await shown(`${at}/find_file/main?search=plum`), /No file has such a path/);
  assert.equal((await browser.get(`${at}/find_file/main/src`)).status, 404);
});

test('beside a file are the folders on the way to it, and above it the commit that last changed it', async () => {
  const { here, at, shown } = await shownWorld();
  await commit(here, 'Add the picker', { 'src/deep/pick.ts': 'one\ntwo', 'src/other.ts': '' });
  await commit(here, 'Something else', { 'docs/a.md': '' });
  const html = await shown(`${at}/blob/main/src/deep/pick.ts`);
  const tree = linksIn(
    html.slice(html.indexOf('<nav class="tree"'), html.indexOf('</nav>', html.indexOf('<nav class="tree"'))),
  );
  const folder = (path: string) => `${at}/tree/main/${path}`;
  assert.deepEqual(
    tree.filter(([, href]) => /src|docs/.test(href)),
    [
      ['docs', folder('docs')],
      ['src', folder('src')],
      ['deep', folder('src/deep')],
      ['pick.ts', `${at}/blob/main/src/deep/pick.ts`],
      ['other.ts', `${at}/blob/main/src/other.ts`],
    ],
  );
  const head = html.slice(html.indexOf('<section class="file">'));
  assert.match(head, /Add the picker/);
  assert.doesNotMatch(head, /Something else/);
  assert.match(head, /2 lines · 7 Bytes/);
  const archives = linksIn(await shown(`${at}/tree/main/src`)).flatMap(
    ([, href]) => /archive\/.*?\.((?:zip|tar).*)$/.exec(href)?.[1] ?? [],
  );
  assert.deepEqual(archives, ['zip?path=src', 'tar.gz?path=src', 'tar.bz2?path=src', 'tar?path=src']);
});

test('a blame shows who changed which lines, and leads to what was there before, also under another name', async () => {
  const { here, browser, at, shown } = await shownWorld();
  const author = { author_name: 'Rowan & Co', author_email: 'rowan@example.com' };
  const first = await commit(here, 'Plant', { 'tree.txt': 'root\nstem\nleaf\n' }, author);
  const update = (file_path: string, content: string) => ({ action: 'update', file_path, content });
  const second = await commit(here, 'Graft <i>', {}, { actions: [update('tree.txt', 'root\nscion\nleaf\n')] });
  const move = {
    action: 'move',
    previous_path: 'tree.txt',
    file_path: 'apple.txt',
    content: 'root\nscion\nleaf\nfruit\n',
  };
  const third = await commit(here, 'Name', {}, { actions: [move] });
  const { name: maintainer } = (await sent(here.as('maintainer').get('/user'))) as { name: string };
  const path = `${at}/blame/main/apple.txt`;
  const html = await shown(path);
  const groups = [
    ...html.matchAll(/rowspan="(\d+)"><div>.*?<a href="[^"]*commit\/(\w+)"[^>]*title="([^"]*)">([^<]*)</g),
  ];
  assert.deepEqual(
    groups.map(([, count, sha, name, title]) => [count, sha, name, title]),
    [
      ['1', first, 'Rowan &amp; Co', 'Plant'],
      ['1', second, maintainer, 'Graft &lt;i&gt;'],
      ['1', first, 'Rowan &amp; Co', 'Plant'],
      ['1', third, maintainer, 'Name'],
    ],
  );
  assert.equal((await browser.get(`${at}/blame_before/${second}/tree.txt`)).to, `${at}/blame/${first}/tree.txt`);
  assert.equal((await browser.get(`${at}/blame_before/${third}/apple.txt`)).to, `${at}/blame/${second}/tree.txt`);
  // There was no file before.
  assert.equal((await browser.get(`${at}/blame_before/${first}/tree.txt`)).to, `${at}/commit/${first}`);
  assert.equal((await browser.get(`${at}/blame/main/missing.txt`)).status, 404);
  await commit(here, 'Odd', { 'odd.bin': 'a\0b', 'empty.txt': '', 'long.txt': 'line\n'.repeat(1500) });
  assert.match(await shown(`${at}/blame/main/odd.bin`), /not a text/);
  assert.match(await shown(`${at}/blame/main/empty.txt`), /The file is empty/);
  const beginning = await shown(`${at}/blame/main/long.txt`);
  assert.ok(beginning.includes('id="L1000"') && !beginning.includes('id="L1001"'));
  const rest = await shown(`${at}/blame/main/long.txt?page=2`);
  assert.ok(rest.includes('id="L1001"') && rest.includes('id="L1500"') && !rest.includes('id="L1000"'));
  assert.equal((await browser.get(`${at}/blame/main/long.txt?page=9`)).status, 400);
});
