import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../../test/support/client.ts';
import { fileForm } from '../../../../test/support/uploads.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { readCommit, resolveBranch } from '../../../git/index.ts';
import { repositoryOfWiki, type Wiki, wikiOf } from './git.ts';

/** The two places that have wikis. */
const placesOf = ({ project, group }: World) => [`/projects/${project.id}/wikis`, `/groups/${group.id}/wikis`];

const page = { title: 'Home', content: '# Apples' };
const slugsOf = ({ body }: { body: { slug: string }[] }) => body.map(({ slug }) => slug);
const at = (base: string, slug: string) => `${base}/${encodeURIComponent(slug)}`;

const wikiIn = async ({ db, project }: World): Promise<Wiki> =>
  (await wikiOf(db, { project_id: project.id, group_id: null }))!;

/** The newest commit of the wiki of the project. */
async function newestIn(here: World) {
  const wiki = await wikiIn(here);
  const repository = repositoryOfWiki(here.services, wiki);
  return readCommit(repository, (await resolveBranch(repository, wiki.default_branch))!);
}

test('a page is created, read, changed, renamed and deleted, in projects and groups', async () => {
  const here = await world();
  for (const base of placesOf(here)) {
    const developer = here.as('developer');
    assert.deepEqual((await developer.get(base)).body, []);
    assert.equal((await developer.get(`${base}/Home`)).status, 404);
    const created = await developer.post(base, page);
    const shown = {
      format: 'markdown',
      slug: 'Home',
      title: 'Home',
      front_matter: {},
      content: '# Apples',
      encoding: 'UTF-8',
    };
    assert.deepEqual([created.status, created.body], [201, shown]);
    assert.deepEqual((await here.as('guest').get(`${base}/Home`)).body, shown);
    const { content: _content, encoding: _encoding, ...basic } = shown;
    assert.deepEqual((await here.as('guest').get(base)).body, [basic]);
    assert.deepEqual((await here.as('guest').get(base, { with_content: true })).body, [shown]);

    const changed = await developer.put(`${base}/Home`, { content: 'Pears' });
    assert.deepEqual([changed.status, changed.body], [200, { ...shown, content: 'Pears' }]);
    const renamed = await developer.put(`${base}/Home`, { title: ' All   fruit / First page ', format: 'asciidoc' });
    assert.deepEqual(renamed.body, {
      ...shown,
      content: 'Pears',
      slug: 'All-fruit/First-page',
      title: 'First page',
      format: 'asciidoc',
    });
    assert.equal((await developer.get(`${base}/Home`)).body.message, '404 Wiki Page Not Found');
    const moved = at(base, 'All-fruit/First-page');
    assert.equal((await developer.get(moved)).body.content, 'Pears');
    assert.equal((await here.as('maintainer').delete(moved)).status, 204);
    assert.deepEqual((await here.as('maintainer').delete(moved)).body, { message: '404 Wiki Page Not Found' });
    assert.deepEqual((await developer.get(base)).body, []);
  }
});

test('each change is a commit of the caller, whose message can be chosen', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const { username } = here.people.maintainer;
  const maintainer = here.as('maintainer');
  const messages: string[] = [];
  const look = async () => {
    const { message, author_name, committer_email } = await newestIn(here);
    assert.deepEqual([author_name, committer_email], [username.replaceAll('-', ' '), `${username}@example.com`]);
    messages.push(message);
  };
  await maintainer.post(base, { ...page, title: 'guide/First steps' });
  await look();
  await maintainer.put(at(base, 'guide/First-steps'), { content: 'x' });
  await look();
  await maintainer.put(at(base, 'guide/First-steps'), { title: 'Next steps', message: 'Go on' });
  await look();
  await maintainer.delete(at(base, 'guide/Next-steps'));
  await look();
  assert.deepEqual(messages, [
    `${username} created page: guide/First steps`,
    `${username} updated page: First steps`,
    'Go on',
    `${username} deleted page: Next steps`,
  ]);
  const before = await newestIn(here);
  await maintainer.post(base, page);
  const { id } = await newestIn(here);
  // What changes nothing is no commit.
  for (const same of [{ content: page.content }, { title: 'Home' }, { format: 'markdown' }])
    assert.equal((await maintainer.put(`${base}/Home`, same)).status, 200);
  assert.equal((await newestIn(here)).id, id);
  assert.deepEqual((await newestIn(here)).parent_ids, [before.id]);
});

test('the list is ordered by folder and slug, and paginated on request', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  for (const title of ['b', 'z/a', 'a/z', 'a/b/c', 'a', '_sidebar', 'a/_sidebar', 'Z']) {
    assert.equal((await developer.post(base, { ...page, title })).status, 201);
  }
  const order = ['Z', 'a', 'b', 'a/z', 'a/b/c', 'z/a'];
  const all = await developer.get(base);
  assert.deepEqual(slugsOf(all), order);
  assert.equal(all.headers.get('x-total'), null);
  assert.equal((await developer.get(`${base}/_sidebar`)).status, 200);
  const second = await developer.get(base, { page: 2, per_page: 4, with_content: 'true' });
  assert.deepEqual(slugsOf(second), order.slice(4));
  assert.equal(second.body[0].content, page.content);
  assert.deepEqual([second.headers.get('x-total'), second.headers.get('x-prev-page')], ['6', '1']);
  assert.deepEqual(slugsOf(await developer.get(base, { page: 1 })), order);
  assert.deepEqual((await developer.get(base, { page: 9 })).body, []);
  assert.equal((await developer.get(base, { per_page: 0 })).status, 400);
  const head = await developer.head(base, { with_content: true });
  assert.deepEqual([head.status, head.body], [200, null]);
});

test('a title refers to a page in a folder, and to nothing outside the wiki', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  const refused: [string, string][] = [
    ['../a', 'contains a relative component'],
    ['a/../b', 'contains a relative component'],
    ['.', 'contains a relative component'],
    ['a//b', 'contains an empty component'],
    ['a/ /b', 'contains an empty component'],
    ['/a', 'starts with a slash'],
    ['a/', 'ends with a slash'],
    ['.git', 'contains a .git folder'],
    ['a/.GIT /config', 'contains a .git folder'],
    ['a\\..\\b', 'contains a relative component'],
    ['a\nb', 'contains control characters'],
    ['a\u007fb', 'contains control characters'],
    ['a\ufffd', 'is not valid Unicode'],
    [`uploads/${'0'.repeat(32)}/a`, 'is the place of an attachment'],
    ['é'.repeat(128), 'has a part of more than 255 bytes'],
    ['a'.repeat(2000), 'has a part of more than 255 bytes'],
    ['/'.repeat(4097), 'has more than 4096 characters'],
    [Array.from({ length: 5 }, () => 'a'.repeat(205)).join('/'), 'has more than 1024 bytes'],
  ];
  for (const [title, reason] of refused) {
    const { status, body } = await developer.post(base, { ...page, title });
    assert.deepEqual([status, body], [400, { message: { title: [reason] } }], title);
  }
  assert.equal((await developer.post(base, { ...page, title: ' ' })).body.message, 'title is empty');
  assert.deepEqual((await developer.get(base)).body, []);
  const kept = [
    'a'.repeat(255),
    Array.from({ length: 4 }, () => 'a'.repeat(255)).join('/'),
    '-x',
    'ü 漢字',
    'a.md',
    '%2e%2e',
  ];
  for (const title of kept) {
    const { status, body } = await developer.post(base, { ...page, title });
    assert.equal(status, 201, title);
    assert.equal((await developer.get(at(base, body.slug))).body.slug, title.replaceAll(' ', '-'));
  }
});

test('two pages never have the same slug', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  await developer.post(base, { ...page, title: 'a b' });
  for (const again of [{ title: 'a-b' }, { title: ' a  b', format: 'org' }]) {
    const { status, body } = await developer.post(base, { ...page, ...again });
    assert.deepEqual([status, body], [400, { message: 'Duplicate page: A page with that title already exists' }]);
  }
  await developer.post(base, { ...page, title: 'c' });
  const renamed = await developer.put(`${base}/c`, { title: 'a b' });
  assert.deepEqual([renamed.status, renamed.body], [400, { message: { title: ['already exists'] } }]);
  assert.deepEqual(slugsOf(await developer.get(base)), ['a-b', 'c']);
});

test('a renamed page stays in its folder, unless the title contains another folder', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  await developer.post(base, { title: 'a/b', content: '---\ntitle: The letter b\n---\nx' });
  const rename = async (slug: string, title: string) => (await developer.put(at(base, slug), { title })).body.slug;
  assert.equal(await rename('a/b', 'The letter b'), 'a/b');
  assert.equal(await rename('a/b', 'c'), 'a/c');
  assert.equal(await rename('a/c', 'd/e'), 'd/e');
  assert.equal(await rename('d/e', '/f'), 'f');
  assert.equal((await developer.put(`${base}/f`, { title: '//g' })).status, 400);
});

test('a change is refused when the page has changed since the commit that the caller knows', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const maintainer = here.as('maintainer');
  await maintainer.post(base, page);
  const { id: first } = await newestIn(here);
  await maintainer.post(base, { ...page, title: 'Other' });
  const known = await maintainer.put(`${base}/Home`, { content: 'Pears', last_commit_sha: first });
  assert.equal(known.status, 200);
  for (const refused of [
    await maintainer.put(`${base}/Home`, { content: 'Plums', last_commit_sha: first }),
    await maintainer.delete(`${base}/Home`, { last_commit_sha: first }),
  ])
    assert.deepEqual([refused.status, refused.body], [409, { message: '409 Conflict: the page has changed' }]);
  assert.equal((await maintainer.get(`${base}/Home`)).body.content, 'Pears');

  const old = await maintainer.get(`${base}/Home`, { version: first });
  assert.equal(old.body.content, page.content);
  for (const version of ['main', '0'.repeat(40), 'HEAD', `${first}~1`])
    assert.deepEqual((await maintainer.get(`${base}/Home`, { version })).body, { message: '404 Wiki Page Not Found' });
  assert.equal((await maintainer.get(`${base}/Other`, { version: first })).status, 404);
});

test('requests with missing parameters are refused', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  await developer.post(base, page);
  const refuses = async (client: Promise<{ status: number; body: { message: unknown } }>, message: unknown) => {
    const { status, body } = await client;
    assert.deepEqual([status, body.message], [400, message]);
  };
  await refuses(developer.post(base, {}), 'title is missing, title is empty, content is missing, content is empty');
  await refuses(developer.post(base, { ...page, content: ' \n' }), 'content is empty');
  await refuses(developer.post(base, { ...page, format: 'html' }), 'format does not have a valid value');
  const nothing = 'title, content, format are missing, at least one parameter must be provided';
  await refuses(developer.put(`${base}/Home`, { message: 'x' }), nothing);
  await refuses(developer.put(`${base}/Home`, { content: '' }), 'content is empty');
  await refuses(developer.put(`${base}/Home`, { title: '' }), 'title is empty');
  const reason = 'is too long (5242881 Bytes). The maximum size is 5242880 Bytes.';
  const tooLong = 'a'.repeat(5_242_881);
  await refuses(developer.post(base, { ...page, title: 'x', content: tooLong }), { content: [reason] });
  await refuses(developer.put(`${base}/Home`, { content: tooLong }), { content: [reason] });
  assert.equal((await developer.get(`${base}/Home`)).body.content, page.content);
  assert.deepEqual(slugsOf(await developer.get(base)), ['Home']);
});

test('front matter gives a page its title, and stays part of the content', async () => {
  const here = await world();
  const [base = ''] = placesOf(here);
  const developer = here.as('developer');
  const content = '---\ntitle: All about apples\ntags: [fruit]\n---\n**Apples**\n';
  const { body } = await developer.post(base, { title: 'apples', content });
  const expected = { title: 'All about apples', front_matter: { title: 'All about apples', tags: ['fruit'] } };
  for (const one of [body, (await developer.get(`${base}/apples`)).body]) {
    const { title, front_matter } = one;
    assert.deepEqual([{ title, front_matter }, one.content], [expected, content]);
  }
  const [listed] = (await developer.get(base)).body;
  assert.deepEqual(listed, { format: 'markdown', slug: 'apples', ...expected });
  const html = (await developer.get(`${base}/apples`, { render_html: true })).body.content;
  assert.equal(html, '<p><strong>Apples</strong></p>\n');
  await developer.post(base, { title: 'a-list', content: '---\n- a\n---\n' });
  const { title, front_matter } = (await developer.get(`${base}/a-list`)).body;
  assert.deepEqual([title, front_matter], ['a list', {}]);
});

test('Markdown is rendered with links relative to the page, other formats are returned unrendered', async () => {
  const here = await world();
  const { project, group, people } = here;
  const issue = await here.as('developer').post(`/projects/${project.id}/issues`, { title: 'Pick them' });
  assert.equal(issue.status, 201);
  const text = `[[Next page]] [up](../home) #1 @${people.guest.username} <script>x</script>`;
  const html = async (base: string, title: string, format = 'markdown') => {
    const { body } = await here.as('developer').post(base, { title, content: text, format });
    return (await here.as('guest').get(at(base, body.slug), { render_html: true })).body.content;
  };
  const [ofProject = '', ofGroup = ''] = placesOf(here);
  const wiki = `http://coppice.test/${project.full_path}/-/wikis`;
  const person = `<a href="http://coppice.test/${people.guest.username}">@${people.guest.username}</a>`;
  const first = `<a href="http://coppice.test/${project.full_path}/-/issues/1">#1</a>`;
  assert.equal(
    await html(ofProject, 'guide/a'),
    `<p><a href="${wiki}/guide/Next-page">Next page</a> <a href="${wiki}/home">up</a> ${first} ${person} &lt;script&gt;x&lt;/script&gt;</p>\n`,
  );
  const wikiOfGroup = `http://coppice.test/groups/${group.full_path}/-/wikis`;
  assert.equal(
    await html(ofGroup, 'guide/a'),
    `<p><a href="${wikiOfGroup}/guide/Next-page">Next page</a> <a href="${wikiOfGroup}/home">up</a> #1 ${person} &lt;script&gt;x&lt;/script&gt;</p>\n`,
  );
  const long = `${text}\n\n`.repeat(200);
  await here.as('developer').post(ofProject, { title: 'long', content: long });
  const { body } = await here.as('guest').get(`${ofProject}/long`, { render_html: true });
  assert.equal(body.content.match(new RegExp(`<p><a href="${wiki}/Next-page">Next page</a>`, 'g'))?.length, 200);
  assert.equal(body.content.split(`${first} ${person}`).length, 201);
  assert.doesNotMatch(body.content, /<script/);
  assert.match(await html(ofProject, 'b', 'org'), /^<pre>\[\[Next page\]\].*&lt;script&gt;x&lt;\/script&gt;<\/pre>$/);
});

const attach = (client: Client, base: string, name: string, content: string | Uint8Array<ArrayBuffer>, query = '') =>
  client.post(`${base}/attachments${query}`, undefined, { raw: fileForm(name, content) });

test('a page can have any name, even one that is part of the URLs of wikis', async () => {
  const here = await world();
  for (const base of placesOf(here))
    for (const title of ['attachments', 'versions', 'pages', 'x/diff']) {
      assert.equal((await here.as('developer').post(base, { title, content: 'one' })).status, 201);
      assert.equal((await here.as('guest').get(at(base, title))).body.content, 'one');
      assert.equal((await here.as('developer').put(at(base, title), { content: 'two' })).body.content, 'two');
      assert.equal((await here.as('maintainer').delete(at(base, title))).status, 204);
    }
});

test('an attachment is committed, and is not a page', async () => {
  const here = await world();
  for (const base of placesOf(here)) {
    const developer = here.as('developer');
    const { status, body } = await attach(developer, base, 'Apple tree.png', new Uint8Array([0, 255, 10]));
    assert.equal(status, 201);
    assert.match(body.file_path, /^uploads\/[0-9a-f]{32}\/Apple_tree\.png$/);
    assert.deepEqual(body, {
      file_name: 'Apple_tree.png',
      file_path: body.file_path,
      branch: 'main',
      link: { url: body.file_path, markdown: `![Apple_tree](${body.file_path})` },
    });
    const { status: read, headers } = await here.as('guest').get(at(`${base}/attachments`, body.file_path));
    assert.deepEqual([read, headers.get('content-security-policy')], [200, 'sandbox']);
    assert.equal((await here.as('guest').get(`${base}/attachments/no`)).body.message, '404 File Not Found');
    assert.equal((await here.as('outsider').get(at(`${base}/attachments`, body.file_path))).status, 404);
    const text = await attach(developer, base, '../notes.md', 'x', '?branch=main');
    assert.equal(text.body.link.markdown, `[notes.md](${text.body.file_path})`);
    assert.deepEqual((await developer.get(base)).body, []);
    assert.equal((await developer.get(at(base, text.body.file_path.replace(/\.md$/, '')))).status, 404);
    const elsewhere = await attach(developer, base, 'a.txt', 'x', '?branch=other');
    assert.deepEqual(elsewhere.body, { message: 'You can only create or edit files when you are on a branch' });
    assert.equal((await developer.post(`${base}/attachments`, {})).body.message, 'file is missing');
    assert.equal((await attach(here.as('reporter'), base, 'a.txt', 'x')).status, 403);
  }
});

test('the role and the access level determine who may read and change a wiki', async () => {
  const here = await world();
  const { db, project, group } = here;
  const attempts = async (base: string, persona: Persona | 'anonymous') => {
    const client = here.as(persona);
    const title = `by ${persona}`;
    const statuses = [
      (await client.get(base)).status,
      (await client.get(`${base}/Home`)).status,
      (await client.post(base, { ...page, title })).status,
      (await client.put(`${base}/Home`, { content: 'x' })).status,
      (await client.delete(`${base}/Home`)).status,
    ];
    return statuses.join(' ');
  };
  const setLevel = async (wiki_access_level: string) => {
    await db.updateTable('projects').set({ wiki_access_level }).where('id', '=', project.id).execute();
    await db.updateTable('namespaces').set({ wiki_access_level }).where('id', '=', group.id).execute();
  };
  const publish = async () => {
    await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
    await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  };
  const bases = placesOf(here);
  for (const base of bases) {
    await here.as('developer').post(base, page);
    assert.equal(await attempts(base, 'anonymous'), '404 404 401 401 401');
    assert.equal(await attempts(base, 'outsider'), '404 404 404 404 404');
    assert.equal(await attempts(base, 'guest'), '200 200 403 403 403');
    assert.equal(await attempts(base, 'reporter'), '200 200 403 403 403');
    assert.equal(await attempts(base, 'developer'), '200 200 201 200 403');
  }
  await publish();
  for (const base of bases) {
    assert.equal(await attempts(base, 'anonymous'), '200 200 401 401 401');
    assert.equal(await attempts(base, 'outsider'), '200 200 403 403 403');
  }
  const within = await here.person();
  const [, ofGroup = ''] = bases;
  await db.updateTable('namespaces').set({ visibility: 'private' }).where('id', '=', group.id).execute();
  const member = { user_id: within.id, access_level: 40 };
  assert.equal((await here.as('owner').post(`/projects/${project.id}/members`, member)).status, 201);
  assert.equal((await within.client.get(`/groups/${group.id}`)).status, 200);
  assert.equal((await within.client.get(ofGroup)).status, 403);
  await publish();
  await setLevel('private');
  for (const base of bases) {
    assert.equal(await attempts(base, 'anonymous'), '403 403 401 401 401');
    assert.equal(await attempts(base, 'outsider'), '403 403 403 403 403');
    assert.equal(await attempts(base, 'guest'), '200 200 403 403 403');
  }
  await setLevel('disabled');
  for (const base of bases) assert.equal(await attempts(base, 'owner'), '403 403 403 403 403');
  await setLevel('enabled');
  await here.as('owner').post(`/projects/${project.id}/archive`);
  await here.as('owner').post(`/groups/${group.id}/archive`);
  for (const base of bases) assert.equal(await attempts(base, 'owner'), '200 200 403 403 403');
});

test('concurrent changes are all applied, including concurrent first ones', async () => {
  const here = await world();
  const unused = here.db.selectFrom('unused_repositories').selectAll().where('kind', '=', 'wiki').orderBy('id');
  const before = await unused.execute();
  for (const base of placesOf(here)) {
    const titles = Array.from({ length: 12 }, (_, number) => `p${String(number).padStart(2, '0')}`);
    const made = await Promise.all(titles.map((title) => here.as('developer').post(base, { ...page, title })));
    assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
    assert.deepEqual(slugsOf(await here.as('guest').get(base)), titles);
  }
  assert.deepEqual(await unused.execute(), before);
});
