/** Changes as pages show them: colours, words, both sides, white space, and more of the file around them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `const line${index + 1} = ${index + 1};`);

/** A commit that changes files, and a reader of its page. */
async function changed(files: Readonly<Record<string, readonly [before: string, after: string]>>) {
  const here = await filledWorld();
  const write = async (action: string, side: 0 | 1): Promise<string> => {
    const actions = Object.entries(files).map(([file_path, texts]) => ({ action, file_path, content: texts[side] }));
    const change = { branch: 'main', commit_message: 'Change', actions };
    return (await sent(here.as('maintainer').post(`/projects/${here.project.id}/repository/commits`, change))).id;
  };
  await write('create', 0);
  const page = `/${here.project.full_path}/-/commit/${await write('update', 1)}`;
  const browser = await browserOf(here, here.people.developer);
  const shown = async (query = ''): Promise<string> => {
    const { status, html } = await browser.get(page + query);
    assert.equal(status, 200);
    return html;
  };
  /** What the reader prefers from now on. */
  const prefer = async (preferences: Record<string, boolean>) =>
    sent(here.as('developer').put('/user/preferences', preferences));
  return Object.assign(shown, { prefer });
}

/** The rows of the first table, without line breaks, and without the links of numbers to comments. */
const rowsIn = (html: string): string[] =>
  html
    .slice(html.indexOf('<table class="diff'), html.indexOf('</table>', html.indexOf('<table class="diff')))
    .replaceAll(/<a href="[^"]*#at-line">(\d+)<\/a>/g, '$1')
    .split('<tr')
    .slice(1)
    .map((row) => `<tr${row.trimEnd()}`);

test('programs have colours, and the words that differ are marked', async () => {
  const shown = await changed({ 'a.ts': ['const tree = "<i>";\nlet x;\n', 'const tree = "<b>";\nlet x;\n'] });
  assert.deepEqual(rowsIn(await shown()), [
    '<tr class="removed"><td>1<td><td><span class="k">const</span> tree = <span class="s">&quot;&lt;<del>i</del>&gt;&quot;</span>;',
    '<tr class="added"><td><td>1<td><span class="k">const</span> tree = <span class="s">&quot;&lt;<ins>b</ins>&gt;&quot;</span>;',
    '<tr><td>2<td>2<td><span class="k">let</span> x;',
  ]);
});

test('both sides stand beside each other', async () => {
  const shown = await changed({ 'a.txt': ['same\none two\nold only\n', 'same\none three\n'] });
  const html = await shown('?view=parallel');
  assert.deepEqual(rowsIn(html), [
    '<tr><td>1<td>same<td>1<td>same',
    '<tr><td class="removed">2<td class="removed">one <del>two</del><td class="added">2<td class="added">one <ins>three</ins>',
    '<tr><td class="removed">3<td class="removed">old only<td class="none"><td class="none">',
  ]);
  assert.match(html, /href="[^"]*\?view=parallel"[^>]* aria-current="true">Side by side</);
});

test('white space can be left out', async () => {
  const shown = await changed({
    'a.txt': ['a\nb\nc\n', '  a\nb\nd\n'],
    'b.txt': ['x\n', 'x \n'],
  });
  assert.equal(rowsIn(await shown()).filter((row) => /added|removed/.test(row)).length, 4);
  const html = await shown('?w=1');
  assert.deepEqual(rowsIn(html), [
    '<tr><td>1<td>1<td>  a',
    '<tr><td>2<td>2<td>b',
    '<tr class="removed"><td>3<td><td>c',
    '<tr class="added"><td><td>3<td>d',
  ]);
  assert.match(html, /Only white space changes/);
  await shown.prefer({ show_whitespace_in_diffs: false });
  const preferred = await shown();
  assert.equal(rowsIn(preferred).length, 4);
  assert.match(preferred, /href="[^"]*\?w=0"[^>]*>Show white space</);
  assert.equal(rowsIn(await shown('?w=0')).length, 5);
});

test('more of the file is shown around changes', async () => {
  const before = lines(100);
  const after = before.with(49, 'const changed = 50;');
  const shown = await changed({ 'a.ts': [before.join('\n'), after.join('\n')] });
  const numbers = (html: string) =>
    rowsIn(html).flatMap((row) => Number(/<td>\d*<td>(\d+)<td>/.exec(row)?.[1] ?? 0) || []);
  const html = await shown();
  assert.deepEqual([numbers(html)[0], numbers(html).at(-1)], [47, 53]);
  const [, wider] = /<a href="[^"]*(\?file=1&amp;context=20)#file-1" data-swap="file-1">Show 20 more lines/.exec(html)!;
  const more = await shown(wider!.replaceAll('&amp;', '&'));
  assert.deepEqual([numbers(more)[0], numbers(more).at(-1)], [27, 73]);
  const all = await shown('?file=1&context=all');
  assert.deepEqual([numbers(all)[0], numbers(all).at(-1), numbers(all).length], [1, 100, 100]);
  assert.equal(all.includes('more lines'), false);
});

test('what programs write is folded with the reason', async () => {
  const shown = await changed({ 'yarn.lock': ['a\n', 'b\n'] });
  const html = await shown();
  assert.match(
    html,
    /It lists the exact versions of dependencies\. <a href="[^"]*\?file=1#file-1"[^>]*>Show the 3 lines/,
  );
  assert.equal(rowsIn(html).length, 0);
  assert.equal(rowsIn(await shown('?file=1')).length, 2);
});
