import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { browserOf } from '../../../../test/support/browser.ts';
import { addIssue } from '../../../../test/support/issues.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest } from '../../../../test/support/merge_requests.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { indexCode } from '../../code/code_search/index.ts';
import type { Scope, Search } from './definition.ts';
import { findTexts } from './time_queries.ts';

type Persona = Parameters<World['as']>[0];

let count = 0;
/** A word that nothing else contains. */
const newWord = () => `quince_${process.pid}_${count++}`;

const namesOf = (items: { title?: string; name?: string; body?: string; path?: string }[]) =>
  items.map(({ title, name, body, path }) => title ?? name ?? body ?? path);

/** What a search finds, by its names. */
async function found(here: World, path: string, query: Record<string, unknown>, persona: Persona = 'developer') {
  const { status, body } = await here.as(persona).get(path, query);
  assert.equal(status, 200, JSON.stringify(body));
  return namesOf(body);
}

test('each scope returns its results everywhere, in a group and in a project', async () => {
  const here = await filledWorld();
  const word = newWord();
  const { as, project, group } = here;
  const developer = as('developer');
  const base = `/projects/${project.id}`;
  await addIssue(here, { title: `Issue ${word}` });
  await addBranch(here, 'topic');
  await addMergeRequest(here, { title: `Change ${word}` });
  assert.equal((await as('owner').post(`${base}/milestones`, { title: `Milestone ${word}` })).status, 201);
  assert.equal((await as('owner').post(`/groups/${group.id}/epics`, { title: `Epic ${word}` })).status, 201);
  assert.equal((await developer.post(`${base}/issues/1/notes`, { body: `Note ${word}` })).status, 201);
  assert.equal((await as('owner').put(base, { description: `Project ${word}` })).status, 200);
  assert.equal(
    (
      await developer.post('/snippets', {
        title: `Snippet ${word}`,
        visibility: 'private',
        files: [{ file_path: 'a.txt', content: 'a' }],
      })
    ).status,
    201,
  );
  const places = { global: '/search', group: `/groups/${group.id}/-/search`, project: `${base}/search` };
  const expected = {
    issues: [`Issue ${word}`],
    work_items: [`Issue ${word}`],
    merge_requests: [`Change ${word}`],
    milestones: [`Milestone ${word}`],
    notes: [`Note ${word}`],
  };
  for (const path of Object.values(places))
    for (const [scope, names] of Object.entries(expected))
      assert.deepEqual(await found(here, path, { scope, search: word }), names, `${path} ${scope}`);
  for (const path of [places.global, places.group]) {
    assert.deepEqual(await found(here, path, { scope: 'epics', search: word }), [`Epic ${word}`]);
    assert.deepEqual(await found(here, path, { scope: 'projects', search: word }), [
      (await developer.get(base)).body.name,
    ]);
  }
  assert.deepEqual(await found(here, places.global, { scope: 'snippet_titles', search: word }), [`Snippet ${word}`]);
  const { username } = here.people.maintainer;
  for (const path of Object.values(places))
    assert.ok((await developer.get(path, { scope: 'users', search: username })).body.length > 0, path);
  assert.deepEqual(await found(here, places.project, { scope: 'users', search: here.people.outsider.username }), []);
  assert.equal((await here.as('admin').post(`/users/${here.people.maintainer.id}/block`)).status, 201);
  const usersFor = async (persona: 'admin' | 'developer', path: string) =>
    (await here.as(persona).get(path, { scope: 'users', search: username })).body.length;
  for (const path of Object.values(places)) {
    assert.equal(await usersFor('developer', path), 0, path);
    assert.equal(await usersFor('admin', path), 1, path);
  }
});

test('users find only results that they may read', async () => {
  const here = await filledWorld();
  const word = newWord();
  const { as, project } = here;
  const base = `/projects/${project.id}`;
  const { iid } = await addIssue(here, { title: `Secret ${word}`, confidential: true });
  await as('owner').post(`${base}/issues/${iid}/notes`, { body: `On a secret ${word}` });
  const open = await addIssue(here, { title: `Open ${word}` });
  await as('owner').post(`${base}/issues/${open.iid}/notes`, { body: `Inside ${word}`, internal: true });
  const all = (scope: string, persona: Persona) => found(here, '/search', { scope, search: word }, persona);
  assert.deepEqual(await all('issues', 'owner'), [`Open ${word}`, `Secret ${word}`]);
  assert.deepEqual(await all('issues', 'guest'), [`Open ${word}`]);
  assert.deepEqual(await all('issues', 'outsider'), []);
  assert.deepEqual(await all('notes', 'owner'), [`Inside ${word}`, `On a secret ${word}`]);
  assert.deepEqual(await all('notes', 'guest'), []);
  assert.deepEqual(await all('notes', 'outsider'), []);
  assert.equal((await as('guest').get(`${base}/search`, { scope: 'blobs', search: word })).status, 403);
  assert.deepEqual(await found(here, '/search', { scope: 'blobs', search: 'README' }, 'guest'), []);
  assert.equal((await as('outsider').get(`${base}/search`, { scope: 'issues', search: word })).status, 404);
  await as('owner').put(base, { issues_access_level: 'disabled' });
  assert.equal((await as('owner').get(`${base}/search`, { scope: 'issues', search: word })).status, 403);
  assert.deepEqual(await all('issues', 'owner'), []);
  assert.equal((await as('anonymous').get('/search', { scope: 'issues', search: word })).status, 401);
});

test('texts are found as they are, with their punctuation', async () => {
  const here = await filledWorld();
  const word = newWord();
  await addIssue(here, { title: `${word} 100% of tool_set`, description: 'a.b->c' });
  await addIssue(here, { title: `${word} 100 of toolXset` });
  const titles = (search: string) => found(here, `/projects/${here.project.id}/search`, { scope: 'issues', search });
  const first = [`${word} 100% of tool_set`];
  assert.deepEqual(await titles(`${word} tool_set`), first);
  assert.deepEqual(await titles(`${word} 100%`), first);
  assert.deepEqual(await titles('a.b->c'), first);
  assert.deepEqual(await titles(`"of tool_set" ${word.toUpperCase()}`), first);
  assert.deepEqual(await titles('#1'), first);
});

test('words of one or two characters are found, and a search that could not read all texts in time reports it', async () => {
  const here = await filledWorld();
  const { as, project, group } = here;
  const base = `/projects/${project.id}`;
  for (const word of ['检索', 'Go', 'C#', 'v2', '🍏']) {
    await addIssue(here, { title: `The ${word} issue` });
    const iid = (await addIssue(here, { title: 'Other' })).iid;
    assert.equal((await as('developer').post(`${base}/issues/${iid}/notes`, { body: `A ${word} note` })).status, 201);
    assert.equal((await as('owner').post(`${base}/milestones`, { title: `The ${word} milestone` })).status, 201);
    const snippet = {
      title: `The ${word} snippet`,
      visibility: 'private',
      files: [{ file_path: 'a.txt', content: 'a' }],
    };
    assert.equal((await as('developer').post('/snippets', snippet)).status, 201);
    for (const path of ['/search', `/groups/${group.id}/search`, `${base}/search`]) {
      const names = async (scope: string) =>
        (await found(here, path, { scope, search: word })).filter((name) => name?.includes(word));
      assert.deepEqual(await names('issues'), [`The ${word} issue`], path);
      assert.deepEqual(await names('notes'), [`A ${word} note`], path);
      assert.deepEqual(await names('milestones'), [`The ${word} milestone`], path);
    }
    assert.deepEqual(await found(here, '/search', { scope: 'snippet_titles', search: word }), [`The ${word} snippet`]);
  }
  const slow: Scope = {
    levels: ['global'],
    forms: [Type.Object({})],
    find: async ({ db }) => {
      await sql`set local statement_timeout = 1`.execute(db);
      await sql`select pg_sleep(1)`.execute(db);
      throw new Error('The statement had time');
    },
  };
  const searching = (search: string) =>
    findTexts(slow, here.services, {
      caller: { id: 1 },
      within: { everywhere: true },
      input: { search },
    } as unknown as Search);
  const { items, headers, total } = await searching('Go');
  assert.deepEqual([items, headers, total], [[], { 'x-search-incomplete': 'true' }, undefined]);
  await assert.rejects(searching('apples'), { status: 408 });
});

test('code is found by its lines and by its path, with the surrounding lines', async () => {
  const here = await filledWorld();
  const word = newWord();
  const { as, project } = here;
  const base = `/projects/${project.id}`;
  const lines = ['one', 'two', `${word} = 1`, 'four', 'five', 'six', 'seven', 'eight', `x(${word.toUpperCase()})`];
  const actions = [
    { action: 'create', file_path: 'src/tool.rb', content: `${lines.join('\n')}\n` },
    { action: 'create', file_path: `vendor/${word}.rb`, content: 'nothing\n' },
    {
      action: 'create',
      file_path: 'picture.bin',
      content: Buffer.from(`\0${word}`).toString('base64'),
      encoding: 'base64',
    },
  ];
  const commit = { branch: 'main', commit_message: `Add ${word}\n\nWith care`, actions };
  const { status: made, body: written } = await as('maintainer').post(`${base}/repository/commits`, commit);
  assert.equal(made, 201, JSON.stringify(written));
  const search = async (text: string, query: object = {}, path = `${base}/search`) => {
    const { status, body, headers } = await as('developer').get(path, { scope: 'blobs', search: text, ...query });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(headers.get('x-search-incomplete'), null);
    return body as { path: string; data: string; startline: number; match_lines: number[]; project_id: number }[];
  };
  for (const path of [`${base}/search`, `/groups/${here.group.id}/search`, '/search']) {
    const blobs = await search(word, {}, path);
    assert.deepEqual(
      blobs.map((blob) => [blob.path, blob.startline, blob.match_lines, blob.project_id]),
      [
        ['src/tool.rb', 1, [3], project.id],
        ['src/tool.rb', 7, [9], project.id],
        [`vendor/${word}.rb`, 1, [], project.id],
      ],
    );
    assert.equal(blobs[0]!.data, `one\ntwo\n${word} = 1\nfour\nfive\n`);
  }
  assert.deepEqual((await search(word, { num_context_lines: 3 })).map(({ match_lines }) => match_lines)[0], [3, 9]);
  assert.deepEqual(namesOf(await search(`${word} -path:vendor filename:*.rb`, { num_context_lines: 0 })), [
    'src/tool.rb',
    'src/tool.rb',
  ]);
  assert.deepEqual(namesOf(await search('extension:rb path:src')), ['src/tool.rb']);
  assert.deepEqual(
    (await search(`^${word}\\s+=\\s+\\d$`, { regex: true })).map(({ match_lines }) => match_lines),
    [[3]],
  );
  assert.deepEqual(namesOf(await search(word, { per_page: 1, page: 2, num_context_lines: 0 })), ['src/tool.rb']);

  const commits = async (text: string, path = `${base}/search`) =>
    (await as('developer').get(path, { scope: 'commits', search: text })).body.map(({ id }: { id: string }) => id);
  for (const path of [`${base}/search`, '/search']) {
    assert.deepEqual(await commits(`${word} CARE`, path), [written.id]);
    assert.deepEqual(await commits(written.short_id, path), [written.id]);
    assert.deepEqual(await commits(`${word} carelessness`, path), []);
  }
  const unknown = await as('developer').get(`${base}/search`, { scope: 'blobs', search: word, ref: 'nowhere' });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Reference Not Found' }]);
});

test('a line must contain the whole search text, and a removed filter leaves one space in its place', async () => {
  const here = await filledWorld();
  const word = newWord();
  const base = `/projects/${here.project.id}`;
  const actions = [{ action: 'create', file_path: 'a/b.txt', content: `${word} first\n${word} second part\n` }];
  const commit = { branch: 'main', commit_message: `Add ${word}\n\nWith care`, actions };
  const made = await here.as('maintainer').post(`${base}/repository/commits`, commit);
  assert.equal(made.status, 201);
  assert.equal(
    (await here.as('maintainer').post(`${base}/repository/branches`, { branch: 'deadbee', ref: 'main' })).status,
    201,
  );
  const linesOf = async (search: string) => {
    const query = { scope: 'blobs', search, num_context_lines: 0 };
    const { status, body } = await here.as('developer').get(`${base}/search`, query);
    assert.equal(status, 200);
    return body.map(({ match_lines }: { match_lines: number[] }) => match_lines);
  };
  assert.deepEqual(await linesOf(`${word} second path:a/ part`), [[2]]);
  assert.deepEqual(await linesOf(`path:a/ extension:txt ${word} first`), [[1]]);
  for (const search of [`${word} first\n${word} second`, `nothing\n${word}`]) {
    assert.deepEqual(await linesOf(search), []);
    await performQueued(here.services, [indexCode]);
    assert.deepEqual(await linesOf(search), []);
  }
  const commits = async (search: string) =>
    (await here.as('developer').get(`${base}/search`, { scope: 'commits', search })).body.length;
  assert.deepEqual(
    [await commits(`"Add ${word}\n\nWith care"`), await commits(`"Add ${word}\nnothing"`), await commits('deadbee')],
    [1, 0, 0],
  );
});

test('merge requests are found as lists show them, and snippets by the name of their first file', async () => {
  const here = await filledWorld();
  const word = newWord();
  await addBranch(here, 'topic');
  const { iid } = await addMergeRequest(here, { title: `Change ${word}` });
  const developer = here.as('developer');
  const base = `/projects/${here.project.id}`;
  const [merge_request] = (await developer.get(`${base}/search`, { scope: 'merge_requests', search: word })).body;
  const [listed] = (await developer.get(`${base}/merge_requests`)).body;
  assert.equal(listed.iid, iid);
  assert.deepEqual(merge_request, listed);
  const browser = await browserOf(here, here.people.developer);
  const shown = await browser.get(`/search?scope=merge_requests&search=${word}`);
  assert.equal(shown.status, 200);
  assert.match(shown.html, new RegExp(`>Change ${word}</a>`));
  const snippet = { title: 'Snippet', visibility: 'private' };
  const files = ['first', 'second'].map((name) => ({ file_path: `${name}_${word}.txt`, content: 'a' }));
  assert.equal((await developer.post('/snippets', { ...snippet, files })).status, 201);
  const snippets = (search: string) => found(here, '/search', { scope: 'snippet_titles', search });
  assert.deepEqual(await snippets(`first_${word}`), ['Snippet']);
  assert.deepEqual(await snippets(`second_${word}`), []);
});

test('results in projects that are archived or marked for deletion are found only inside them', async () => {
  const here = await filledWorld();
  const word = newWord();
  const base = `/projects/${here.project.id}`;
  const [owner, group] = [here.as('owner'), `/groups/${here.group.id}/search`];
  await addIssue(here, { title: `Issue ${word}` });
  await addBranch(here, 'topic');
  await addMergeRequest(here, { title: `Change ${word}` });
  const snippet = { title: `Snippet ${word}`, visibility: 'private', files: [{ file_path: 'a', content: 'a' }] };
  assert.equal((await owner.post(`${base}/snippets`, snippet)).status, 201);
  const counts = async (query: object = {}) => {
    const count = async (path: string, scope: string) =>
      (await found(here, path, { scope, search: word, ...query }, 'owner')).length;
    return [
      await count('/search', 'issues'),
      await count(group, 'issues'),
      await count('/search', 'merge_requests'),
      await count(group, 'merge_requests'),
      await count('/search', 'snippet_titles'),
    ];
  };
  const [all, none] = [
    [1, 1, 1, 1, 1],
    [0, 0, 0, 0, 0],
  ];
  assert.deepEqual(await counts(), all);
  assert.equal((await owner.post(`${base}/archive`)).status, 201);
  assert.deepEqual([await counts(), await counts({ include_archived: true })], [none, all]);
  assert.equal((await owner.post(`${base}/unarchive`)).status, 201);
  assert.equal((await owner.delete(base)).status, 202);
  assert.deepEqual([await counts(), await counts({ include_archived: true })], [none, none]);
});

test('projects with the searched name come first, then the newest; all words must occur', async () => {
  const here = await filledWorld();
  const word = newWord();
  const owner = here.as('owner');
  const names = [`${word} one`, word, `${word} longer two`, `two ${word}`];
  for (const name of names)
    assert.equal((await owner.post('/projects', { name, namespace_id: here.group.id })).status, 201);
  const projects = (search: string, query: object = {}) =>
    found(here, '/search', { scope: 'projects', search, ...query }, 'owner');
  const [one, named, longer, two] = names;
  assert.deepEqual(await projects(word), [named, two, longer, one]);
  assert.deepEqual(await projects(word, { sort: 'asc' }), [named, one, longer, two]);
  assert.deepEqual(await projects(word, { order_by: 'created_at', sort: 'asc' }), [one, named, longer, two]);
  assert.deepEqual(await projects(`two ${word}`), [two, longer]);
  assert.deepEqual(await projects(`"two ${word}"`), [two]);
});

test('lists in order of time support keyset pagination, and those of code do not', async () => {
  const here = await filledWorld();
  const word = newWord();
  const base = `/projects/${here.project.id}`;
  const developer = here.as('developer');
  const titles = [1, 2, 3].map((number) => `${word} ${number}`);
  for (const title of titles) {
    const { iid } = await addIssue(here, { title });
    assert.equal((await developer.post(`${base}/issues/${iid}/notes`, { body: title })).status, 201);
    assert.equal((await here.as('owner').post(`${base}/milestones`, { title })).status, 201);
  }
  for (const scope of ['issues', 'notes', 'milestones']) {
    const read: string[] = [];
    let next: string | undefined =
      `/search?${new URLSearchParams({ scope, search: word, per_page: '2', pagination: 'keyset' })}`;
    for (let pages = 0; next !== undefined && pages < 3; pages++) {
      const { status, body, headers } = await developer.get(next);
      assert.equal(status, 200, JSON.stringify(body));
      for (const name of ['x-total', 'x-page', 'x-next-page']) assert.equal(headers.get(name), null);
      read.push(...(namesOf(body) as string[]));
      next = /<[^>]*\/api\/v4([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    assert.deepEqual(read, titles.toReversed(), scope);
    assert.equal(next, undefined);
  }
  for (const scope of ['blobs', 'commits', 'wiki_blobs']) {
    const { status, body } = await developer.get('/search', { scope, search: word, pagination: 'keyset' });
    assert.deepEqual([status, body.error], [405, 'Keyset pagination is not yet available for this type of request']);
  }
});

test('wiki pages are found', async () => {
  const here = await filledWorld();
  const word = newWord();
  for (const wiki of [`/projects/${here.project.id}/wikis`, `/groups/${here.group.id}/wikis`])
    assert.equal((await here.as('developer').post(wiki, { title: 'Guide', content: `Prune ${word}` })).status, 201);
  const { body } = await here.as('developer').get('/search', { scope: 'wiki_blobs', search: word });
  const owners = body.map((each: { path: string; project_id?: number; group_id?: number }) => [
    each.path,
    each.project_id,
    each.group_id,
  ]);
  assert.deepEqual(owners, [
    ['Guide.md', undefined, here.group.id],
    ['Guide.md', here.project.id, undefined],
  ]);
  assert.deepEqual(await found(here, '/search', { scope: 'wiki_blobs', search: word }, 'outsider'), []);
});

test('invalid searches are refused', async () => {
  const here = await filledWorld();
  const at = `/projects/${here.project.id}/search`;
  for (const [query, error] of [
    [{ search: 'x' }, 'scope is missing'],
    [{ scope: 'projects', search: 'x' }, 'scope does not have a valid value'],
    [{ scope: 'issues' }, 'search is missing, search is empty'],
    [{ scope: 'issues', search: ' ' }, 'search is empty'],
    [{ scope: 'issues', search: 'x'.repeat(4097) }, 'search is too long (maximum is 4096 characters)'],
    [{ scope: 'issues', search: 'a '.repeat(65) }, 'search has too many terms (maximum is 64)'],
    [{ scope: 'issues', search: 'x', state: 'merged' }, 'state does not have a valid value'],
    [{ scope: 'blobs', search: '(', regex: true }, /^search is not a valid regular expression: /],
  ] as const) {
    const { status, body } = await here.as('developer').get(at, query);
    assert.equal(status, 400, JSON.stringify(query));
    if (typeof error === 'string') assert.equal(body.error, error);
    else assert.match(body.error, error);
  }
  const long = await here.as('developer').get(at, { scope: 'issues', search: '😀'.repeat(4096), fields: [''] });
  assert.deepEqual([long.status, long.body], [200, []]);
  for (const [query, message] of [
    [{ scope: 'issues', search: 'x', source_branch: 'main' }, 'source_branch is supported only for merge_requests'],
    [{ scope: 'blobs', search: 'x', fields: ['title'] }, 'fields is supported only for issues, merge_requests'],
  ] as const) {
    const { status, body } = await here.as('developer').get(at, query);
    assert.deepEqual([status, body.message], [400, message], JSON.stringify(query));
  }
});
