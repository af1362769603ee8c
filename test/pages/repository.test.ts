/** The pages of projects and their repositories, as browsers get them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { prepareMergeRequest } from '../../src/areas/work/merge_requests/index.ts';
import { inAddress } from '../../src/foundation/addresses.ts';
import { anonymousBrowser, type Browser, browserOf } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { filledWorld } from '../support/repository.ts';
import { type World, world } from '../support/world.ts';

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

/** A change of files, as the developer makes it. */
async function commit(here: World, files: Readonly<Record<string, string>>, branch = 'main'): Promise<string> {
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const { status, body } = await here
    .as('maintainer')
    .post(`/projects/${here.project.id}/repository/commits`, { branch, commit_message: 'Add files', actions });
  assert.equal(status, 201);
  return body.id;
}

async function branch(here: World, name: string): Promise<string> {
  const { status, body } = await here
    .as('maintainer')
    .post(`/projects/${here.project.id}/repository/branches`, { branch: name, ref: 'main' });
  assert.equal(status, 201);
  return pathOf(body.web_url);
}

/** The text of a page that must be there. */
async function shown(browser: Browser, path: string): Promise<string> {
  const { status, html } = await browser.get(path);
  assert.equal(status, 200, path);
  return html;
}

/** How often something is in a page. */
const countIn = (html: string, text: string): number => html.split(text).length - 1;

const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>';

test('a project shows its files, its README and where to clone it', async () => {
  const here = await filledWorld();
  await commit(here, {
    'docs/guide.md': '# Guide\n',
    'logo.png': 'no picture',
    'logo.svg': '<svg/>',
    README: 'A plain one',
  });
  await here.as('maintainer').put(`/projects/${here.project.id}/repository/files/README.md`, {
    branch: 'main',
    commit_message: 'Link',
    content: '# Title\n\n[Guide](docs/guide.md) ![Logo](./logo.png) ![Badge](https://badges.example.com/a.svg)\n',
  });
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}`;
  const html = await shown(browser, at);
  assert.equal(countIn(html, '<h1>'), 1);
  assert.match(html, new RegExp(`<a href="${at}/-/tree/main/docs" rel="nofollow">docs</a>`));
  assert.match(
    html,
    new RegExp(
      `<h3 id="user-content-title">Title</h3><a [^>]*></a></div>\n<p><a href="${at}/-/blob/main/docs/guide.md">Guide</a>`,
    ),
  );
  assert.match(html, new RegExp(`<img src="${at}/-/raw/main/logo.png" alt="Logo" />`));
  assert.match(html, /<img src="\/-\/picture\/[\w-]+\/[\w-]+" loading="lazy" alt="Badge" \/>/);
  const { headers } = await browser.get(`${at}/-/raw/main/logo.svg`);
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  assert.match(headers.get('content-security-policy')!, /^default-src 'none';.* sandbox$/);
  assert.ok(html.includes(`http://coppice.test${at}.git`));
  assert.equal((await browser.get(`/projects/${here.project.id}`)).to, at);
});

test('an empty project shows what to push', async () => {
  const here = await world();
  const html = await shown(await browserOf(here, here.people.developer), `/${here.project.full_path}`);
  assert.ok(html.includes('git push --set-upstream origin main'));
});

test('a star is given and taken back, also twice', async () => {
  const here = await filledWorld();
  const browser = await browserOf(here, here.people.guest);
  const at = `/${here.project.full_path}`;
  for (const [form, other] of [
    ['star', 'unstar'],
    ['unstar', 'star'],
  ] as const)
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await browser.send(at, form).then(({ status, to }) => ({ status, to })), {
        status: 303,
        to: at,
      });
      assert.ok((await shown(browser, at)).includes(`value="${other}"`));
    }
});

test('what is hidden looks like what is missing', async () => {
  const here = await filledWorld();
  const at = `/${here.project.full_path}`;
  const outsider = await browserOf(here, here.people.outsider);
  const missing = await outsider.get('/nobody/nothing');
  for (const path of [
    '',
    '/-/tree/main',
    '/-/blob/main/README.md',
    '/-/raw/main/README.md',
    '/-/commits',
    '/-/branches',
  ]) {
    const { status, html } = await outsider.get(at + path);
    assert.equal(status, 404, path);
    assert.equal(html, missing.html, path);
    const { to } = await anonymousBrowser(here.url).get(at + path);
    assert.equal(to, `/users/sign_in?to=${encodeURIComponent(at + path)}`);
  }
});

test('whoever may not see the code sees the project without it', async () => {
  const here = await filledWorld();
  await here.as('owner').put(`/projects/${here.project.id}`, { repository_access_level: 'private' });
  const guest = await browserOf(here, here.people.guest);
  const html = await shown(guest, `/${here.project.full_path}`);
  assert.ok(html.includes('You may not see the code'));
  assert.ok(!html.includes('README'));
  assert.equal((await guest.get(`/${here.project.full_path}/-/blob/main/README.md`)).status, 404);
});

test('the addresses of odd branches open, and the longest ref counts', async () => {
  const here = await filledWorld();
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}`;
  for (const name of ['fix#1', 'half%20', 'größe/ä', 'a&b=c', `x"><b>`]) {
    const page = await branch(here, name);
    assert.ok((await shown(browser, page)).includes('README.md'), name);
    assert.match(await shown(browser, `${at}/-/blob/${inAddress(name)}/README.md?plain=1`), /id="L2"/);
    assert.match(await shown(browser, `${at}/-/compare/main...${inAddress(name)}`), /same commit/);
    assert.match(await shown(browser, `${at}/-/commits/${inAddress(name)}`), /Change a file/);
  }
  await branch(here, 'long');
  await commit(here, { 'er/file.txt': 'of the branch long' }, 'long');
  await here
    .as('maintainer')
    .post(`/projects/${here.project.id}/repository/tags`, { tag_name: 'long/er', ref: 'main' });
  assert.equal((await browser.get(`${at}/-/blob/long/er/file.txt`)).status, 404);
  assert.ok((await shown(browser, `${at}/-/blob/long/er/README.md`)).includes('one'));
});

test('other forms of addresses lead to the page', async () => {
  const here = await filledWorld();
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}`;
  await commit(here, { 'docs/guide.md': '# Guide' });
  for (const [other, page] of [
    ['/-/blob/main/docs', '/-/tree/main/docs'],
    ['/-/tree/main/docs/guide.md', '/-/blob/main/docs/guide.md'],
    ['/issues?state=all', '/-/issues?state=all'],
    ['/merge_requests/1', '/-/merge_requests/1'],
    ['/tree/main/docs', '/-/tree/main/docs'],
  ] as const) {
    const { status, to } = await browser.get(at + other);
    assert.deepEqual([status, to], [302, at + page], other);
    const { to: signIn } = await anonymousBrowser(here.url).get(at + other);
    assert.match(signIn!, /^\/users\/sign_in/);
  }
  for (const missing of ['/-/blob/main/nothing', '/-/tree/main/nothing', '/nothing', '/issuesque'])
    assert.equal((await browser.get(at + missing)).status, 404, missing);
});

test('go get finds the repository of a module and of its packages', async () => {
  const here = await filledWorld();
  const browser = await browserOf(here, here.people.developer);
  const path = here.project.full_path;
  const { host } = new URL((await here.as('developer').get(`/projects/${here.project.id}`)).body.web_url);
  const tag = `<meta name="go-import" content="${host}/${path} git http://${host}/${path}.git">`;
  for (const rest of ['', '/pkg/apples'])
    assert.ok((await shown(browser, `/${path}${rest}?go-get=1`)).includes(tag), rest);
  assert.ok(!(await shown(browser, `/${path}`)).includes('go-import'));
  assert.equal((await browser.get(`/${path}/pkg/apples`)).status, 404);
});

test('names and contents of files are text', async () => {
  const here = await filledWorld();
  const name = hostile.replaceAll('/', '∕');
  const sha = await commit(here, {
    [`${name}.html`]: hostile,
    'evil.svg': `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
    'evil.md': `${hostile}\n\n[x](javascript:alert(1))\n`,
    'evil.js': `const a = '${hostile}';\n`,
  });
  const at = `/${here.project.full_path}`;
  const browser = await browserOf(here, here.people.developer);
  const blob = `${at}/-/blob/main/`;
  for (const path of [
    at,
    `${at}/-/tree/main`,
    `${blob}${inAddress(name)}.html`,
    `${blob}evil.svg`,
    `${blob}evil.md`,
    `${blob}evil.md?plain=1`,
    `${blob}evil.js`,
    `${at}/-/commit/${sha}`,
  ]) {
    const html = await shown(browser, path);
    assert.doesNotMatch(html, /<script>|<img src=x|" onerror=|href="javascript/, path);
  }
});

test('raw files are bytes that do nothing', async () => {
  const here = await filledWorld();
  await commit(here, { 'page.html': hostile });
  const browser = await browserOf(here, here.people.reporter);
  const { html, headers } = await browser.get(`/${here.project.full_path}/-/raw/main/page.html`);
  assert.equal(html, hostile);
  assert.match(headers.get('content-type')!, /^text\/plain/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy')!, /sandbox/);
});

test('programs are shown in colours, with an anchor for each line', async () => {
  const here = await filledWorld();
  await commit(here, { 'main.ts': '/* a\nb */\nexport const one = 1;\n', 'run.sh': 'if true; then echo "a"; fi\n' });
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}/-/blob/main`;
  const html = await shown(browser, `${at}/main.ts`);
  assert.ok(html.includes('<tr id="L2"><td class="line"><a href="#L2">2</a><td><span class="c">b */</span>'));
  assert.ok(html.includes('<span class="k">const</span>'));
  assert.ok(html.includes('<span class="n">1</span>'));
  assert.ok((await shown(browser, `${at}/run.sh`)).includes('<span class="k">if</span>'));
});

test('large files and folders are shown in part, with a link to the rest', async () => {
  const here = await filledWorld();
  await commit(here, {
    'line.js': `const a = "${'x'.repeat(3_000_000)}";\n`,
    'lines.txt': Array.from({ length: 25_000 }, (_, index) => `line ${index + 1}\n`).join(''),
    'large.txt': 'a line of a large file\n'.repeat(100_000),
    ...Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`many/${index + 1000}`, ''])),
  });
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}/-`;
  const long = await shown(browser, `${at}/blob/main/line.js`);
  assert.ok(long.length < 25_000);
  assert.match(long, /more characters/);
  assert.equal(countIn(await shown(browser, `${at}/blob/main/lines.txt`), '<tr id='), 10_000);
  const last = await shown(browser, `${at}/blob/main/lines.txt?page=3`);
  assert.ok(last.includes('<tr id="L25000">'));
  assert.ok(!last.includes('Next page'));
  const large = await shown(browser, `${at}/blob/main/large.txt`);
  assert.ok(large.includes('its first megabyte'));
  assert.ok(countIn(large, '<tr id=') <= 10_000);
  assert.equal(countIn(await shown(browser, `${at}/tree/main/many?page=3`), '/-/blob/main/many/'), 50);
});

test('a commit shows its message, its refs and its changes', async () => {
  const here = await filledWorld();
  const sha = await commit(here, { 'a.txt': 'first\nsecond\n' });
  await here.as('developer').post(`/projects/${here.project.id}/statuses/${sha}`, { state: 'success', name: 'ci/<b>' });
  const browser = await browserOf(here, here.people.developer);
  const at = `/${here.project.full_path}/-`;
  const html = await shown(browser, `${at}/commit/${sha}`);
  assert.match(html, /<h1>Add files<\/h1>/);
  assert.ok(html.includes(`<a href="${at}/tree/main">branch main</a>`));
  assert.ok(html.includes('ci/&lt;b&gt;'));
  assert.match(html, /<tr class="added"[^>]*><td><td[^>]*>(<a [^>]*>)?2(<\/a>)?<td>second\n/);
  assert.match(await shown(browser, `${at}/commits/main/a.txt`), new RegExp(`commit/${sha}`));
  assert.match(await shown(browser, `${at}/commit/${sha}.diff`), /^diff --git a\/a\.txt b\/a\.txt\n[\s\S]*\+second\n$/);
  assert.match(
    await shown(browser, `${at}/commit/${sha}.patch`),
    new RegExp(`^From ${sha} [\\s\\S]*Subject: \\[PATCH\\] Add files`),
  );
  // A busy machine may find it for a later reader only.
  const link = `<a href="${at}/commit/${sha}" rel="nofollow">Add files</a>`;
  for (let tries = 1; !(await shown(browser, `${at}/tree/main`)).includes(link); tries++) assert.ok(tries < 1_000);
  assert.doesNotMatch(await shown(browser, `${at}/commits/main?until=2000-01-01`), /commit\//);
});

test('a commit shows what it belongs to, and takes comments', async () => {
  const here = await filledWorld();
  await branch(here, 'side');
  const sha = await commit(here, { 'a.txt': 'first\n' }, 'side');
  const at = `/${here.project.full_path}/-`;
  const asked = await here.as('developer').post(`/projects/${here.project.id}/merge_requests`, {
    source_branch: 'side',
    target_branch: 'main',
    title: 'Side',
  });
  assert.equal(asked.status, 201);
  await performQueued(here.services, [prepareMergeRequest]);
  const browser = await browserOf(here, here.people.developer);
  assert.ok((await shown(browser, `${at}/commit/${sha}`)).includes('!1 Side'));
  const { to } = await browser.send(`${at}/commit/${sha}`, 'comment', { body: `**Why?** ${hostile}` });
  assert.equal(to, `${at}/commit/${sha}#comments`);
  const html = await shown(browser, to);
  assert.ok(html.includes('<strong>Why?</strong>'));
  assert.doesNotMatch(html, /<script>|<img src=x/);
  const [, discussion_id = ''] = /name="discussion_id" value="([0-9a-f]{40})"/.exec(html) ?? [];
  await browser.send(`${at}/commit/${sha}`, 'reply', { body: 'Because.', discussion_id, _key: discussion_id });
  assert.match(await shown(browser, to), /id="note_\d+"[\s\S]*replied[\s\S]*Because\./);
});

test('large changes are in parts, each of which can be reached', async () => {
  const here = await filledWorld();
  const files = Object.fromEntries(Array.from({ length: 1_050 }, (_, index) => [`f/${index + 10_000}`, `${index}\n`]));
  const sha = await commit(here, { ...files, long: 'x\n'.repeat(6_000), wide: `${'y'.repeat(300_000)}\n` });
  const browser = await browserOf(here, here.people.developer);
  const page = `/${here.project.full_path}/-/commit/${sha}`;
  const html = await shown(browser, page);
  assert.equal(countIn(html, '<section class="file"'), 1_000);
  assert.ok(html.includes('1052 files changed'));
  const [, next] = /<a rel="next" href="([^"]*)">Files from 1001 on/.exec(html)!;
  const rest = await shown(browser, next!);
  assert.equal(countIn(rest, '<section class="file"'), 52);
  assert.ok(rest.includes('too large to be shown'));
  assert.equal(countIn(rest, '<td>x\n'), 0);
  const [, alone] = /<a href="([^"]*\?file=\d+)#[^"]*" data-swap="[^"]*">Show the 6001 lines/.exec(rest)!;
  assert.equal(countIn(await shown(browser, alone!), '<td>x\n'), 6_000);
  assert.ok(rest.includes(`<a rel="prev" href="${page}?page=1">`));
});

test('a page of changes ends when it has a hundred thousand lines', async () => {
  const here = await filledWorld();
  const content = 'x\n'.repeat(4_999);
  const files = Object.fromEntries(Array.from({ length: 110 }, (_, index) => [`f/${index + 100}`, content]));
  const sha = await commit(here, files);
  const browser = await browserOf(here, here.people.developer);
  const html = await shown(browser, `/${here.project.full_path}/-/commit/${sha}`);
  assert.equal(countIn(html, '<section class="file"'), 100);
  // With the line of the hunk, each file has 5,000.
  assert.equal(countIn(html, '<table class="diff"'), 20);
  assert.equal(countIn(html, 'Show the 5000 lines of this diff'), 80);
  const [, next] = /<a rel="next" href="([^"]*)">Files from 101 on/.exec(html)!;
  assert.equal(countIn(await shown(browser, next!), '<table class="diff"'), 10);
});

test('two refs are compared by a form, and by an address', async () => {
  const here = await filledWorld();
  await branch(here, 'side');
  await commit(here, { 'b.txt': 'new\n' }, 'side');
  const browser = await browserOf(here, here.people.reporter);
  const at = `/${here.project.full_path}/-/compare`;
  assert.ok((await shown(browser, at)).includes('value="main"'));
  const { to } = await browser.send(at, 'compare', { from: 'main', to: 'side' });
  assert.equal(to, `${at}/main...side`);
  const html = await shown(browser, to!);
  assert.match(html, /1 commit<\/h2>/);
  assert.ok(html.includes('<tr class="added"><td><td>1<td>new'));
  assert.match(await shown(browser, `${at}/side..main`), /<tr class="removed"><td>1<td><td>new/);
  const refused = await browser.send(at, 'compare', { from: 'main' });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /To is empty/);
  assert.equal((await browser.get(`${at}/main`)).status, 404);
  assert.equal((await browser.get(`${at}/main...nothing`)).status, 404);
});

test('branches and tags are listed, created and deleted', async () => {
  const here = await filledWorld();
  const at = `/${here.project.full_path}/-`;
  const browser = await browserOf(here, here.people.developer);
  assert.equal((await browser.send(`${at}/branches`, 'create', { branch: 'a/b', ref: 'main' })).to, `${at}/tree/a/b`);
  const again = await browser.send(`${at}/branches`, 'create', { branch: 'a/b', ref: 'main' });
  assert.equal(again.status, 400);
  assert.match(again.html, /Branch already exists/);
  assert.match(again.html, /value="a\/b"/);
  assert.ok((await shown(browser, `${at}/branches?search=a/`)).includes('Delete a/b'));
  assert.equal((await browser.send(`${at}/branches`, 'remove', { branch: 'a/b', _key: 'a/b' })).status, 303);
  assert.ok(!(await shown(browser, `${at}/branches`)).includes('a/b'));
  const made = await browser.send(`${at}/tags`, 'create', { tag_name: 'v/1', ref: 'main', message: 'First' });
  assert.equal(made.to, `${at}/tags/v/1`);
  assert.match(await shown(browser, made.to!), /First/);
  const archive = await browser.get(`${at}/archive/v/1/project.tar.gz`);
  assert.deepEqual([archive.status, archive.headers.get('content-type')], [200, 'application/gzip']);
  assert.equal((await browser.send(made.to!, 'remove')).to, `${at}/tags`);
  const reporter = await browserOf(here, here.people.reporter);
  for (const list of ['branches', 'tags'])
    assert.ok(!(await shown(reporter, `${at}/${list}`)).includes('value="create"'));
});

test('pages are small', async () => {
  const here = await filledWorld();
  await commit(here, {
    'a.ts': 'export const value = (name: string) => [name, "more", 1 + 2]; // a comment\n'.repeat(1_000),
  });
  await here.as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await here.as('owner').put(`/projects/${here.project.id}`, { visibility: 'public' });
  // `fetch` would decompress them.
  const sizeOf = async (path: string) => {
    const request = get(here.url + path, { headers: { accept: 'text/html', 'accept-encoding': 'br' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const bytes = Buffer.concat(await response.toArray());
    assert.match(brotliDecompressSync(bytes).toString('utf8'), /<h1>/);
    return bytes.length;
  };
  const at = `/${here.project.full_path}`;
  assert.ok((await sizeOf(at)) <= 12_000);
  assert.ok((await sizeOf(`${at}/-/tree/main`)) <= 12_000);
  assert.ok((await sizeOf(`${at}/-/commits`)) <= 10_000);
  assert.ok((await sizeOf(`${at}/-/blob/main/a.ts`)) <= 40_000);
});
