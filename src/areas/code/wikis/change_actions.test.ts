import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type GitClient, gitClient, remoteOf } from '../../../../test/support/git.ts';
import { type World, world } from '../../../../test/support/world.ts';

/** The events of pages in the project, oldest first. */
async function received({ as, project }: World) {
  const { status, body } = await as('guest').get(`/projects/${project.id}/events`, {
    target_type: 'wiki',
    sort: 'asc',
    per_page: 100,
  });
  assert.equal(status, 200);
  return body as {
    action_name: string;
    target_title: string;
    target_id: number;
    author_id: number;
    wiki_page: { slug: string };
  }[];
}

const shortly = async (here: World) =>
  (await received(here)).map(({ action_name, target_title }) => `${action_name} ${target_title}`);

const lines = Array.from({ length: 20 }, (_, line) => `Line ${line} about apples\n`).join('');

/** A work tree of a client whose remote is the wiki of the project, which may not be there yet. */
async function workTree({ url, project, people }: World): Promise<GitClient> {
  const client = await gitClient();
  await client.run(['init', '-q', 'work']);
  await client.run(['remote', 'add', 'origin', remoteOf(url, `${project.full_path}.wiki`, people.developer.token)], {
    at: 'work',
  });
  return client;
}

/** Writes files, or removes those without content, and pushes them to a branch. */
async function push({ run, folder }: GitClient, branch: string, files: Record<string, string | null>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, 'work', name);
    await mkdir(path.dirname(file), { recursive: true });
    await (content === null ? rm(file) : writeFile(file, content));
  }
  for (const args of [
    ['add', '-A'],
    ['commit', '-q', '-m', 'Change pages'],
    ['push', '-q', 'origin', `HEAD:${branch}`],
  ]) {
    const { code, stderr } = await run(args, { at: 'work' });
    assert.equal(code, 0, stderr);
  }
}

test('page changes through the API create events for the page, which keeps its identity under a new title', async () => {
  const here = await world();
  const base = `/projects/${here.project.id}/wikis`;
  const developer = here.as('developer');
  assert.equal((await developer.post(base, { title: 'fruit/Late apples', content: lines })).status, 201);
  const at = `${base}/${encodeURIComponent('fruit/Late-apples')}`;
  assert.equal((await developer.put(at, { content: `${lines}More\n` })).status, 200);
  assert.equal((await developer.put(at, { content: `${lines}More\n` })).status, 200, 'which changes nothing');
  assert.equal((await developer.put(at, { title: 'Winter apples' })).status, 200);
  const moved = `${base}/${encodeURIComponent('fruit/Winter-apples')}`;
  assert.equal((await developer.put(moved, { format: 'rdoc', content: 'All of it is different' })).status, 200);
  assert.equal((await here.as('maintainer').delete(moved)).status, 204);
  const events = await received(here);
  assert.deepEqual(
    events.map(({ action_name }) => action_name),
    ['created', 'updated', 'updated', 'updated', 'destroyed'],
  );
  assert.equal(new Set(events.map(({ target_id }) => target_id)).size, 1);
  assert.deepEqual(events[0]!.wiki_page, {
    format: 'rdoc',
    slug: 'fruit/Winter-apples',
    title: 'Winter apples',
    wiki_page_meta_id: events[0]!.target_id,
  });
  const { developer: author, maintainer } = here.people;
  assert.deepEqual([events[0]!.author_id, events[4]!.author_id], [author.id, maintainer.id]);

  assert.equal((await developer.post(base, { title: 'fruit/Late apples', content: 'Again' })).status, 201);
  assert.notEqual(
    (await received(here)).at(-1)!.target_id,
    events[0]!.target_id,
    'another page in the place of the first',
  );
});

test('a push to the default branch creates an event per page, at most twenty; other files and branches create none', async () => {
  const here = await world();
  const client = await workTree(here);
  await push(client, 'trunk', { 'home.md': lines, 'notes.txt': 'no page', 'uploads/a.png': 'no page' });
  assert.deepEqual(await shortly(here), ['created home'], 'the first branch is the default one');
  const [first] = await received(here);
  await push(client, 'other', { 'draft.md': 'no event' });
  assert.equal((await received(here)).length, 1);

  await push(client, 'trunk', {
    'home.md': null,
    'start.md': `${lines}A line\n`,
    'draft.md': null,
    'titled.md': '---\ntitle: "Of \\0 \\uD800it"\n---\n',
  });
  assert.deepEqual(await shortly(here), ['created start', 'updated start', 'created Of  \ufffdit']);
  assert.equal((await received(here))[1]!.target_id, first!.target_id, 'the page was renamed');

  const many = Object.fromEntries(
    Array.from({ length: 25 }, (_, number) => [`many/${String(number).padStart(2, '0')}.md`, `${number}`]),
  );
  await push(client, 'trunk', { 'start.md': null, ...many, [`${'long/'.repeat(205)}slug.md`]: 'too long' });
  const later = (await shortly(here)).slice(3);
  assert.deepEqual(
    later,
    Array.from({ length: 20 }, (_, number) => `created ${String(number).padStart(2, '0')}`),
  );
});

test('changes in the wiki of a group are recorded without a project', async () => {
  const here = await world();
  const base = `/groups/${here.group.id}/wikis`;
  assert.equal((await here.as('developer').post(base, { title: 'Home', content: 'Apples' })).status, 201);
  const recorded = here.db
    .selectFrom('events')
    .innerJoin('wiki_pages', 'wiki_pages.id', 'target_id')
    .innerJoin('wikis', 'wikis.id', 'wiki_id');
  const rows = await recorded
    .select(['events.project_id', 'action', 'slug', 'author_id'])
    .where('group_id', '=', here.group.id)
    .where('target_type', '=', 'WikiPage::Meta')
    .execute();
  assert.deepEqual(rows, [{ project_id: null, action: 'created', slug: 'Home', author_id: here.people.developer.id }]);
  const own = await here.as('developer').get('/events', { target_type: 'wiki' });
  assert.deepEqual([own.status, own.body], [200, []]);
});
