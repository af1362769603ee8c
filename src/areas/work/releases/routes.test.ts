import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { anonymousBrowser, browserOf } from '../../../../test/support/browser.ts';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';
import { collectNotifications, sendNotification } from '../../activity/notifications/index.ts';
import { collectDueEvidence } from './index.ts';

const at = ({ project }: World) => `/projects/${project.id}/releases`;
const tagsOf = ({ project }: World) => `/projects/${project.id}/repository/tags`;
const soon = () => new Date(Date.now() + 3_600_000).toISOString();

test('a release is created with its tag, shown, listed, changed and deleted; its tag stays', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const { url } = here.services;
  const head = await headOf(here);
  const created = await as('developer').post(at(here), {
    tag_name: 'v1/0',
    ref: 'main',
    tag_message: 'The first',
    description: 'Read **this**',
    assets: {
      links: [
        { name: 'Binary', url: 'https://files.example/one', direct_asset_path: '/bin/one', link_type: 'package' },
        { name: 'Manual', url: 'https://files.example/two' },
      ],
    },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { body } = created;
  const page = `${url}/${project.full_path}/-/releases/v1%2F0`;
  assert.deepEqual(
    [body.tag_name, body.name, body.description, body.upcoming_release, body.commit.id, body.author.id],
    ['v1/0', 'v1/0', 'Read **this**', false, head, people.developer.id],
  );
  assert.deepEqual(
    body.assets.links.map(({ id: _, ...link }: { id: number }) => link),
    [
      {
        name: 'Manual',
        url: 'https://files.example/two',
        direct_asset_url: 'https://files.example/two',
        link_type: 'other',
      },
      {
        name: 'Binary',
        url: 'https://files.example/one',
        direct_asset_url: `${page}/downloads/bin/one`,
        link_type: 'package',
      },
    ],
  );
  assert.deepEqual(
    [body.assets.count, body.assets.sources.map(({ format }: { format: string }) => format)],
    [6, ['zip', 'tar.gz', 'tar.bz2', 'tar']],
  );
  assert.deepEqual([body._links.self, body._links.edit_url], [page, `${page}/edit`]);
  assert.ok(!('milestones' in body));
  const one = `${at(here)}/v1%2F0`;
  const { _links: _, ...shown } = (await as('reporter').get(one)).body;
  const { _links: __, ...expected } = body;
  assert.deepEqual(shown, expected);
  const rendered = await as('reporter').get(at(here), { include_html_description: true });
  assert.match(rendered.body[0].description_html, /<strong>this<\/strong>/);
  const tag = await as('reporter').get(`${tagsOf(here)}/v1%2F0`);
  assert.deepEqual(
    [tag.body.release, tag.body.message],
    [{ tag_name: 'v1/0', description: 'Read **this**' }, 'The first'],
  );

  const empty = await as('developer').put(one, {});
  assert.deepEqual([empty.status, empty.body], [400, { message: 'params is empty' }]);
  const changed = await as('developer').put(one, { name: 'One', description: 'New' });
  assert.deepEqual([changed.status, changed.body.name, changed.body.description], [200, 'One', 'New']);
  const removed = await as('developer').delete(one);
  assert.deepEqual([removed.status, removed.body.name], [200, 'One']);
  for (const gone of [
    await as('reporter').get(one),
    await as('developer').delete(one),
    await as('developer').put(one, { name: 'x' }),
  ])
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not Found' }]);
  assert.equal((await as('reporter').get(`${tagsOf(here)}/v1%2F0`)).body.release, null);
});

test('a refused creation says why and leaves neither a tag nor a release', async () => {
  const here = await filledWorld();
  const developer = here.as('developer');
  await here.as('maintainer').post(`/projects/${here.project.id}/protected_tags`, { name: 'safe*' });
  const link = { name: 'a', url: 'https://files.example/a' };
  const refusals: [object, number, unknown][] = [
    [{ ref: 'main' }, 400, 'tag_name is missing'],
    [{ tag_name: 'v1' }, 422, 'Ref is not specified'],
    [{ tag_name: 'v1', ref: 'absent' }, 400, 'Target absent is invalid'],
    [{ tag_name: 'a..b', ref: 'main' }, 400, 'Tag name invalid'],
    [{ tag_name: 'safe', ref: 'main' }, 403, 'You are not allowed to create this tag as it is protected.'],
    [{ tag_name: 'v1', ref: 'main', milestones: ['x', 'y'] }, 400, 'Milestone(s) not found: x, y'],
    [{ tag_name: 'v1', ref: 'main', milestone_ids: [1] }, 400, 'Milestone id(s) not found: 1'],
    [
      { tag_name: 'v1', ref: 'main', milestone_ids: [1], milestones: ['x'] },
      400,
      'milestones, milestone_ids Cannot specify milestones and milestone_ids at the same time',
    ],
    [
      { tag_name: 'v1', ref: 'main', assets: { links: [link, { ...link, url: 'https://files.example/b' }] } },
      400,
      'Validation failed: Links have duplicate values (name)',
    ],
    [
      { tag_name: 'v1', ref: 'main', assets: { links: [{ ...link, url: 'javascript:alert(1)' }] } },
      400,
      'Validation failed: Links url is blocked: Only allowed schemes are http, https, ftp',
    ],
    [
      { tag_name: 'v1', ref: 'main', name: 'x'.repeat(256) },
      400,
      { name: ['is too long (maximum is 255 characters)'] },
    ],
  ];
  for (const [parameters, status, message] of refusals) {
    const refused = await developer.post(at(here), { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [status, message], JSON.stringify(parameters));
  }
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['reporter', 403],
  ] as const)
    assert.equal((await here.as(persona).post(at(here), { tag_name: 'v1', ref: 'main' })).status, status, persona);
  assert.deepEqual((await developer.get(at(here))).body, []);
  assert.deepEqual((await developer.get(tagsOf(here))).body, []);
});

test('if two requests create the same release concurrently, one is refused', async () => {
  const here = await filledWorld();
  const asked = Array.from({ length: 4 }, () => here.as('developer').post(at(here), { tag_name: 'v1', ref: 'main' }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), [201, 409, 409, 409]);
  const again = await here.as('developer').post(at(here), { tag_name: 'v1' });
  assert.deepEqual([again.status, again.body], [409, { message: 'Release already exists' }]);
});

test('deleting a tag through the API or by a push deletes its release', async () => {
  const here = await filledWorld();
  const { as, people, project, url } = here;
  for (const tag_name of ['v1', 'v2', 'v3'])
    assert.equal((await as('developer').post(at(here), { tag_name, ref: 'main' })).status, 201);
  assert.equal((await as('developer').delete(`${tagsOf(here)}/v1`)).status, 204);
  const { run } = await gitClient();
  const remote = remoteOf(url, project.full_path, people.developer.token);
  await run(['clone', '-q', remote, 'work']);
  assert.equal((await run(['push', remote, ':refs/tags/v2'], { at: 'work' })).code, 0);
  const left = (await as('reporter').get(at(here))).body;
  assert.deepEqual(
    left.map(({ tag_name }: { tag_name: string }) => tag_name),
    ['v3'],
  );
});

test('guests of a private project read the notes only, and others by the level of the project', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  await as('developer').post(at(here), {
    tag_name: 'v1',
    ref: 'main',
    assets: { links: [{ name: 'a', url: 'https://files.example/a', direct_asset_path: '/a' }] },
  });
  const [seen] = (await as('guest').get(at(here))).body;
  assert.deepEqual(Object.keys(seen).toSorted(), [
    '_links',
    'assets',
    'author',
    'created_at',
    'description',
    'name',
    'released_at',
    'upcoming_release',
  ]);
  assert.deepEqual(
    [seen.assets.count, seen.assets.links[0].direct_asset_url, seen._links],
    [1, 'https://files.example/a', {}],
  );
  assert.equal((await as('guest').get(`${at(here)}/v1`)).status, 403);
  assert.equal((await as('guest').get(`${at(here)}/v1/downloads/a`)).status, 403);
  assert.equal((await as('anonymous').get(at(here))).status, 404);
  await as('owner').put(`/projects/${project.id}`, { releases_access_level: 'disabled' });
  assert.equal((await as('reporter').get(at(here))).status, 403);
  assert.equal((await as('developer').post(at(here), { tag_name: 'v2', ref: 'main' })).status, 403);
  await as('admin').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await as('owner').put(`/projects/${project.id}`, { releases_access_level: 'private', visibility: 'public' });
  assert.equal((await as('reporter').get(at(here))).status, 200);
  assert.equal((await as('outsider').get(at(here))).status, 403);
  await as('owner').put(`/projects/${project.id}`, { releases_access_level: 'enabled' });
  assert.equal((await as('anonymous').get(at(here))).body[0].tag_name, 'v1');
});

test('links are added, changed and removed, and equal ones are refused', async () => {
  const here = await filledWorld();
  const developer = here.as('developer');
  await developer.post(at(here), { tag_name: 'v1', ref: 'main' });
  const links = `${at(here)}/v1/assets/links`;
  const added = await developer.post(links, { name: 'a', url: 'https://files.example/a', filepath: '/bin/a' });
  assert.equal(added.status, 201);
  const refusals: [object, unknown][] = [
    [{ name: 'a', url: 'https://files.example/b' }, ['Name has already been taken']],
    [{ name: 'b', url: 'https://files.example/a' }, ['Url has already been taken']],
    [{ name: 'b', url: 'https://files.example/b', direct_asset_path: '/bin/a' }, ['Filepath has already been taken']],
    [{ name: 'b', url: 'https://files.example/b', direct_asset_path: 'bin' }, ['Filepath is invalid']],
    [{ name: 'b', url: 'gopher://b' }, ['Url is blocked: Only allowed schemes are http, https, ftp']],
    [{ name: 'b' }, 'url is missing'],
  ];
  for (const [parameters, message] of refusals) {
    const refused = await developer.post(links, { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  const one = `${links}/${added.body.id}`;
  const without = await developer.put(one, { link_type: 'image' });
  assert.deepEqual(
    [without.status, without.body.message],
    [400, 'name, url are missing, at least one parameter must be provided'],
  );
  assert.equal((await here.as('reporter').put(one, { name: 'c' })).status, 403);
  const changed = await developer.put(one, { name: 'c', link_type: 'image' });
  assert.deepEqual([changed.status, changed.body.name, changed.body.link_type], [200, 'c', 'image']);
  assert.deepEqual((await here.as('guest').get(links)).body.length, 1);
  assert.equal((await here.as('reporter').get(one)).body.direct_asset_url, changed.body.direct_asset_url);
  assert.deepEqual((await developer.delete(one)).body, changed.body);
  const gone = await developer.get(one);
  assert.deepEqual([gone.status, gone.body.message], [404, '404 Not found']);
});

test('the path of a link can be removed, and a blank path counts as none', async () => {
  const here = await filledWorld();
  const developer = here.as('developer');
  const url = 'https://files.example/a';
  const blank = { name: 'b', url: 'https://files.example/b', direct_asset_path: '' };
  const made = await developer.post(at(here), { tag_name: 'v1', ref: 'main', assets: { links: [blank] } });
  assert.equal(made.body.assets.links[0].direct_asset_url, blank.url);
  const links = `${at(here)}/v1/assets/links`;
  const { id, direct_asset_url } = (await developer.post(links, { name: 'a', url, filepath: '' })).body;
  assert.equal(direct_asset_url, url);
  for (const none of ['', null]) {
    const given = await developer.put(`${links}/${id}`, { name: 'a', direct_asset_path: '/a' });
    assert.match(given.body.direct_asset_url, /\/v1\/downloads\/a$/);
    const kept = await developer.put(`${links}/${id}`, { name: 'a' });
    assert.equal(kept.body.direct_asset_url, given.body.direct_asset_url);
    const cleared = await developer.put(`${links}/${id}`, { name: 'a', direct_asset_path: none });
    assert.deepEqual([cleared.status, cleared.body.direct_asset_url], [200, url]);
  }
});

test('permanent links lead to the latest release and its assets', async () => {
  const here = await filledWorld();
  const { as, project, url } = here;
  const read = (rest: string) =>
    fetch(`${url}/api/v4${at(here)}${rest}`, {
      headers: { 'private-token': here.people.reporter.token },
      redirect: 'manual',
    });
  assert.equal((await read('/permalink/latest')).status, 404);
  const assets = { links: [{ name: 'a', url: 'https://files.example/a?b=c', direct_asset_path: '/bin/a' }] };
  await as('developer').post(at(here), { tag_name: 'v3', ref: 'main', released_at: soon() });
  await as('developer').post(at(here), { tag_name: 'v1/x', ref: 'main', assets });
  await as('developer').post(at(here), { tag_name: 'v0', ref: 'main', released_at: '2020-01-01T00:00:00Z' });
  const base = `${here.services.url}/api/v4/projects/${project.id}/releases/v1%2Fx`;
  for (const [rest, location] of [
    ['/permalink/latest', base],
    ['/permalink/latest?include_html_description=true', `${base}?include_html_description=true`],
    ['/permalink/latest/downloads/bin/a', `${base}/downloads/bin/a`],
    ['/permalink/latest?order_by=released_at', base],
    ['/permalink/latest/assets/links?per_page=1&order_by=released_at&page=2', `${base}/assets/links?per_page=1&page=2`],
    ['/v1%2Fx/downloads/bin/a', 'https://files.example/a?b=c'],
  ]) {
    const answer = await read(rest!);
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, location]);
  }
  assert.equal((await read('/v1%2Fx/downloads/bin/b')).status, 404);
  const foreign = { name: '日本', url: 'https://files.example/日本', direct_asset_path: '/bin/c' };
  assert.equal((await as('developer').post(`${at(here)}/v1%2Fx/assets/links`, foreign)).status, 201);
  const { status, headers } = await read('/v1%2Fx/downloads/bin/c');
  assert.deepEqual([status, headers.get('location')], [302, 'https://files.example/%E6%97%A5%E6%9C%AC']);
  const order = async (query: object) =>
    (await as('reporter').get(at(here), { ...query })).body.map(({ tag_name }: { tag_name: string }) => tag_name);
  assert.deepEqual(await order({}), ['v3', 'v1/x', 'v0']);
  assert.deepEqual(await order({ sort: 'asc' }), ['v0', 'v1/x', 'v3']);
  assert.deepEqual(await order({ order_by: 'created_at' }), ['v0', 'v1/x', 'v3']);
});

test('evidence is collected at once for current releases, when upcoming ones are due, and on request', async () => {
  const here = await filledWorld();
  const { as, project, db, people } = here;
  const milestone = (await as('developer').post(`/projects/${project.id}/milestones`, { title: 'M' })).body;
  for (const [title, confidential] of [
    ['Open', false],
    ['Secret', true],
  ] as const)
    await as('developer').post(`/projects/${project.id}/issues`, { title, confidential, milestone_id: milestone.id });
  const made = await as('developer').post(at(here), { tag_name: 'v1', ref: 'main', milestones: ['M'] });
  assert.deepEqual(made.body.milestones[0].issue_stats, { total: 2, closed: 0 });
  const [seen] = await sent(as('guest').get(at(here)));
  assert.deepEqual(seen.milestones[0].issue_stats, { total: 1, closed: 0 }, 'without the confidential one');
  const [{ sha, filepath }] = made.body.evidences;
  assert.ok(filepath.startsWith(`${here.services.url}/${project.full_path}/-/releases/v1/evidences/`));
  const browser = await browserOf(here, people.reporter);
  const text = (await browser.get(new URL(filepath).pathname)).html;
  assert.equal(createHash('sha256').update(text).digest('hex'), sha);
  const { release } = JSON.parse(text);
  assert.deepEqual(Object.keys(release), [
    'id',
    'tag_name',
    'name',
    'description',
    'created_at',
    'project',
    'milestones',
    'report_artifacts',
  ]);
  assert.deepEqual(
    release.milestones[0].issues.map(({ title, author }: { title: string; author: { email: null } }) => [
      title,
      author.email,
    ]),
    [['Open', null]],
  );

  for (const [tag_name, released_at] of [
    ['old', '2020-01-01T00:00:00Z'],
    ['next', soon()],
  ] as const) {
    const { body } = await as('developer').post(at(here), { tag_name, ref: 'main', released_at });
    assert.deepEqual([body.evidences, body.upcoming_release], [[], tag_name === 'next']);
  }
  await db
    .updateTable('releases')
    .set({ released_at: new Date(Date.now() - 1000).toISOString() })
    .where('tag', '=', 'next')
    .where('project_id', '=', project.id)
    .execute();
  await performJob(here.services, collectDueEvidence);
  await performJob(here.services, collectDueEvidence);
  const evidences = async (tag: string) => (await as('reporter').get(`${at(here)}/${tag}`)).body.evidences.length;
  assert.deepEqual([await evidences('next'), await evidences('old')], [1, 0]);
  const asked = await as('developer').post(`${at(here)}/old/evidence`);
  assert.deepEqual([asked.status, asked.body], [202, { message: '202 Accepted' }]);
  assert.equal(await evidences('old'), 1);
  await as('developer').put(`${at(here)}/v1`, { milestones: [] });
  assert.ok(!('milestones' in (await as('reporter').get(`${at(here)}/v1`)).body));
});

test('evidence has the issues that all of its readers may read', async () => {
  const here = await filledWorld();
  const { as, project, group } = here;
  const base = `/projects/${project.id}`;
  for (const path of [`/groups/${group.id}`, base]) await sent(as('owner').put(path, { visibility: 'public' }));
  const hidden = await sent(
    as('owner').post('/projects', { name: 'hidden', namespace_id: group.id, visibility: 'private' }),
  );
  const { id: milestone_id } = await sent(as('owner').post(`/groups/${group.id}/milestones`, { title: 'M' }));
  await sent(as('owner').post(`${base}/issues`, { title: 'Own', milestone_id }));
  await sent(
    as('owner').post(`/projects/${hidden.id}/issues`, { title: 'Foreign', description: 'Hush', milestone_id }),
  );
  /** The titles in the newest evidence, as a stranger reads it, and what else is in it. */
  const read = async () => {
    const { evidences } = await sent(as('anonymous').get(`${at(here)}/v1`));
    const { sha, filepath } = evidences.at(-1);
    const text = (await anonymousBrowser(here.url).get(new URL(filepath).pathname)).html;
    assert.equal(createHash('sha256').update(text).digest('hex'), sha);
    const { release, ...rest } = JSON.parse(text);
    return { titles: release.milestones[0].issues.map(({ title }: { title: string }) => title), release, rest };
  };
  await sent(as('developer').post(at(here), { tag_name: 'v1', ref: 'main', milestone_ids: [milestone_id] }));
  const first = await read();
  assert.deepEqual([first.titles, first.rest], [['Own'], {}]);
  for (const [persona, total] of [
    ['anonymous', 1],
    ['owner', 2],
  ] as const)
    for (const path of [base, `/groups/${group.id}`]) {
      const [release] = await sent(as(persona).get(`${path}/releases`));
      const [{ issue_stats } = { issue_stats: undefined }] = release.milestones ?? [];
      assert.deepEqual(issue_stats, { total, closed: 0 }, `${persona} reads ${path}`);
    }
  await sent(as('owner').put(base, { issues_access_level: 'private' }));
  await sent(as('developer').post(`${at(here)}/v1/evidence`));
  assert.deepEqual((await read()).titles, [], 'the tracker is for members');
  await sent(as('owner').put(base, { releases_access_level: 'private' }));
  await sent(as('developer').post(`${at(here)}/v1/evidence`));
  const { evidences } = await sent(as('developer').get(`${at(here)}/v1`));
  const browser = await browserOf(here, here.people.developer);
  assert.match((await browser.get(new URL(evidences.at(-1).filepath).pathname)).html, /Own/, 'and so are the releases');
  await sent(as('owner').put(base, { releases_access_level: 'enabled', issues_access_level: 'enabled' }));
});

test('pages show the releases, and URLs returned by the API redirect to them', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const links = [{ name: 'a', url: 'https://files.example/a', direct_asset_path: '/bin/a' }];
  const made = await as('developer').post(at(here), {
    ...{ tag_name: 'v1/x', ref: 'main', name: 'The first', description: 'Read **this**' },
    assets: { links },
  });
  const browser = await browserOf(here, people.reporter);
  const base = `/${project.full_path}/-/releases`;
  const list = await browser.get(base);
  assert.deepEqual([list.status, list.html.includes(`href="${base}/v1%2Fx"`)], [200, true]);
  const shown = await browser.get(`${base}/v1%2Fx`);
  assert.match(shown.html, /<strong>this<\/strong>/);
  const { direct_asset_url } = made.body.assets.links[0];
  const asset = await browser.get(new URL(direct_asset_url).pathname);
  assert.deepEqual([asset.status, asset.headers.get('location')], [302, 'https://files.example/a']);
  assert.equal((await browser.get(`${base}/permalink/latest`)).to, `${base}/v1%2Fx`);
  const source = await browser.get(new URL(made.body.assets.sources[0].url).pathname);
  assert.deepEqual([source.status, source.headers.get('content-type')], [200, 'application/zip']);
  const guest = await browserOf(here, people.guest);
  assert.match((await guest.get(base)).html, /The first/);
  assert.equal((await guest.get(`${base}/v1%2Fx`)).status, 403);
});

test('a token can read the assets at the URLs of a release, as glab downloads them, but no page', async () => {
  const here = await filledWorld();
  const { as, project, people, url } = here;
  const form = new FormData();
  form.append('file', new Blob(['beans\n']), 'seeds.txt');
  const uploads = `/projects/${project.id}/uploads`;
  const headersOf = ({ token }: { token: string }) => ({ 'private-token': token });
  const upload = await fetch(`${url}/api/v4${uploads}`, {
    method: 'POST',
    body: form,
    headers: headersOf(people.developer),
  });
  const { full_path } = (await upload.json()) as { full_path: string };
  await as('developer').post(at(here), { tag_name: 'v1', ref: 'main' });
  const link = await as('developer').post(`${at(here)}/v1/assets/links`, {
    name: 'Seeds',
    url: `${url}${full_path}`,
    direct_asset_path: '/seeds.txt',
  });
  const { assets, evidences } = (await as('reporter').get(`${at(here)}/v1`)).body;
  const get = (address: string, headers: Record<string, string>) =>
    fetch(url + new URL(address, url).pathname, { headers, redirect: 'manual' });
  const archive = assets.sources.find(({ format }: { format: string }) => format === 'tar').url;
  const reporter = headersOf(people.reporter);
  for (const headers of [reporter, { authorization: `Bearer ${people.reporter.token}` }]) {
    const tar = await get(archive, { ...headers, accept: 'application/octet-stream' });
    assert.deepEqual([tar.status, tar.headers.get('content-type')], [200, 'application/x-tar']);
    assert.match(await tar.text(), /README\.md/);
  }
  assert.equal(await (await get(full_path, reporter)).text(), 'beans\n');
  const asset = await get(link.body.direct_asset_url, reporter);
  assert.deepEqual([asset.status, asset.headers.get('location')], [302, `${url}${full_path}`]);
  assert.equal((await get(evidences[0].filepath, reporter)).status, 200);

  assert.equal((await get(archive, {})).status, 404);
  assert.equal((await get(archive, headersOf(people.outsider))).status, 404);
  assert.equal((await get(archive, headersOf(people.guest))).status, 403);
  assert.equal((await get(archive, headersOf({ token: 'glpat-nobody-has-this' }))).status, 401);
  const narrow = await as('admin').post(`/users/${people.reporter.id}/personal_access_tokens`, {
    name: 'narrow',
    scopes: ['read_user'],
  });
  assert.equal((await get(archive, headersOf(narrow.body))).status, 403);
  assert.equal((await get(`/${project.full_path}/-/releases/v1`, reporter)).status, 404);
});

test('a protected tag protects its release', async () => {
  const here = await filledWorld();
  const { as } = here;
  await as('maintainer').post(at(here), { tag_name: 'v1', ref: 'main' });
  await as('maintainer').post(`/projects/${here.project.id}/protected_tags`, { name: 'v*' });
  const one = `${at(here)}/v1`;
  for (const refused of [
    await as('developer').put(one, { name: 'x' }),
    await as('developer').delete(one),
    await as('developer').post(`${one}/evidence`),
    await as('developer').post(`${one}/assets/links`, { name: 'a', url: 'https://files.example/a' }),
  ])
    assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden']);
  assert.equal((await as('maintainer').put(one, { name: 'x' })).status, 200);
});

test('a group lists the releases of its projects that the caller may read', async () => {
  const here = await filledWorld();
  const { as, group } = here;
  await as('developer').post(at(here), { tag_name: 'v1', ref: 'main', description: 'Notes' });
  const listed = await as('reporter').get(`/groups/${group.id}/releases`);
  assert.deepEqual([listed.status, listed.body.length, listed.body[0].tag_name], [200, 1, 'v1']);
  const simple = (await as('reporter').get(`/groups/${group.id}/releases`, { simple: true })).body[0];
  assert.deepEqual(Object.keys(simple).toSorted(), [
    'created_at',
    'description',
    'name',
    'released_at',
    'tag_name',
    'upcoming_release',
  ]);
  assert.equal((await as('outsider').get(`/groups/${group.id}/releases`)).status, 404);
});

test('webhooks and mail report releases', async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  const here = await filledWorld({});
  const { as, project, people } = here;
  const { url } = here.services;
  await allowLocalHooks(here);
  const hooks = `/projects/${project.id}/hooks`;
  const given = { url: `${receiver.url}/r`, push_events: false, releases_events: true };
  const { body: hook } = await as('maintainer').post(hooks, given);
  await as('reporter').put(`/projects/${project.id}/notification_settings`, { level: 'custom', new_release: true });
  await as('guest').put(`/projects/${project.id}/notification_settings`, { level: 'custom', new_release: true });
  const links = [{ name: 'a', url: 'https://files.example/a' }];
  await as('developer').post(at(here), { tag_name: 'v1', ref: 'main', name: 'One', assets: { links } });
  await as('developer').put(`${at(here)}/v1`, { description: 'New' });
  await as('developer').post(`${at(here)}/v1/assets/links`, { name: 'b', url: 'https://files.example/b' });
  await as('developer').delete(`${tagsOf(here)}/v1`);
  await sendHooks(here);
  const sent = receiver.take();
  assert.deepEqual(
    sent
      .map(({ headers, body }) => [headers['x-gitlab-event'], body.action, body.assets.links.length].join(' '))
      .toSorted(),
    ['Release Hook create 1', 'Release Hook delete 2', 'Release Hook update 1', 'Release Hook update 2'],
  );
  const { body } = sent.find((one) => one.body.action === 'create')!;
  assert.deepEqual(
    [body.tag, body.name, body.url, body.commit.id, body.assets.count, body.assets.sources[0].url],
    [
      'v1',
      'One',
      `${url}/${project.full_path}/-/releases/v1`,
      await headOf(here),
      5,
      `${url}/${project.full_path}/-/archive/v1/${project.full_path.split('/').at(-1)}-v1.zip`,
    ],
  );
  await as('developer').post(at(here), { tag_name: 'v2', ref: 'main', name: 'Two' });
  assert.equal((await as('maintainer').post(`${hooks}/${hook.id}/test/releases_events`)).status, 201);
  assert.deepEqual(
    receiver.take().map((one) => [one.body.action, one.body.tag, one.body.commit.id]),
    [['create', 'v2', await headOf(here)]],
  );
  const mails = await mailOf(here.services, [collectNotifications, sendNotification]);
  assert.deepEqual(
    mails.map(({ to, subject }) => [to.address.split('@')[0], subject]),
    [[people.reporter.username, mails[0]!.subject]],
  );
  assert.match(mails[0]!.subject, /Two \(v2\)/);
});

test('lists of issues and merge requests filter by the milestones of a release', async () => {
  const here = await filledWorld();
  const { as, project, group, people } = here;
  const developer = as('developer');
  const base = `/projects/${project.id}`;
  const titled = async (title: string, of: string) => (await developer.post(`${of}/milestones`, { title })).body.id;
  const [first, shared, loose] = [
    await titled('First', base),
    await titled('Shared', `/groups/${group.id}`),
    await titled('Loose', base),
  ];
  for (const milestone_id of [first, shared, loose, undefined])
    await developer.post(`${base}/issues`, { title: 'Prune', ...(milestone_id && { milestone_id }) });
  const release = (tag_name: string, milestones: string[]) =>
    developer.post(at(here), { tag_name, ref: 'main', milestones });
  assert.equal((await release('v1', ['First', 'Shared'])).status, 201);
  assert.equal((await release('v2', ['Shared'])).status, 201);
  await developer.post(`${base}/repository/branches`, { branch: 'pruning', ref: 'main' });
  await developer.post(`${base}/merge_requests`, {
    source_branch: 'pruning',
    target_branch: 'main',
    title: 'Prune',
    milestone_id: first,
  });

  const other = (await as('owner').post('/projects', { name: 'Other', path: 'other', namespace_id: group.id })).body;
  await as('owner').post(`/projects/${other.id}/issues`, { title: 'Elsewhere', milestone_id: shared });
  const found = async (persona: Parameters<typeof as>[0], path: string, release_tag: string) =>
    (await as(persona).get(path, { release_tag, sort: 'asc' })).body.map(({ iid }: { iid: number }) => iid);
  for (const path of [`${base}/issues`, `/groups/${group.id}/issues`]) {
    assert.deepEqual(await found('reporter', path, 'v1'), [1, 2], path);
    assert.deepEqual(await found('reporter', path, 'v2'), [2], path);
    assert.deepEqual(await found('reporter', path, 'v3'), [], path);
    assert.deepEqual(await found('reporter', path, 'Any'), [1, 2], path);
  }
  assert.deepEqual(await found('reporter', `${base}/issues`, 'None'), [3, 4]);
  assert.deepEqual((await developer.get('/issues_statistics', { release_tag: 'v1' })).body.statistics.counts.all, 2);
  assert.deepEqual(await found('reporter', `${base}/merge_requests`, 'v1'), [1]);
  assert.deepEqual(await found('reporter', `${base}/merge_requests`, 'v2'), []);
  assert.deepEqual(await found('reporter', `${base}/merge_requests`, 'None'), []);
  const { url } = here.services;
  const { _links } = (await developer.get(`${at(here)}/v2`)).body;
  const page = await (await browserOf(here, people.reporter)).get(_links.opened_issues_url.slice(url.length));
  assert.match(page.html, /#2 opened/);
  assert.doesNotMatch(page.html, /#1 opened/);

  // A guest may not read the tags of a private project.
  assert.deepEqual(await found('guest', `${base}/issues`, 'v1'), []);
  assert.deepEqual(await found('guest', `${base}/issues`, 'None'), [1, 2, 3, 4]);
  await as('owner').put(base, { releases_access_level: 'disabled' });
  assert.deepEqual(await found('reporter', `${base}/issues`, 'Any'), []);
});
