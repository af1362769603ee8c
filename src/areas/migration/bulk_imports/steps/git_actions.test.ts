import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { entitiesOf, migrated, runMigrations } from '../../../../../test/support/migrations.ts';
import { onMain } from '../../../../../test/support/repository.ts';
import { migrationPlace, type SourceEntity } from '../../../../../test/support/source.ts';
import { removeProject } from '../../../spaces/projects/index.ts';

test('wikis of projects and groups, and repositories that are not exported, are fetched over git', async (t) => {
  const here = await migrationPlace(t);
  const { as, source, services, db, project, group, people } = here;
  await as('maintainer').post(`/projects/${project.id}/repository/files/README.md`, { ...onMain, content: 'apples' });
  for (const [place, title] of [
    [`/projects/${project.id}`, 'Varieties'],
    [`/groups/${group.id}`, 'Rules'],
  ])
    for (const content of ['first', 'second'])
      await (content === 'first'
        ? as('owner').post(`${place}/wikis`, { title, content })
        : as('owner').put(`${place}/wikis/${title}`, { content }));
  const at = (path: string) => ({ url: `${here.url}/${path}.git`, token: people.owner.token });
  source.repositories.set('orchard.wiki.git', at(`${group.full_path}.wiki`));
  source.repositories.set('orchard/apples.wiki.git', at(`${project.full_path}.wiki`));
  source.repositories.set('orchard/apples.git', at(project.full_path));
  const pages = [{ slug: 'page', title: 'page' }];
  source.entities = [
    { type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] }, answers: { '/wikis': pages } },
    { ...apples, answers: { '/wikis': pages } },
    { type: 'project', id: 9, full_path: 'orchard/empty', relations: { self: [{}] } },
  ];
  const events = await db.selectFrom('events').select('id').execute();
  const id = await migrated(here);
  await runMigrations(here);
  const [top, filled, empty] = await entitiesOf(here, id);
  assert.deepEqual([top!.failures, filled!.failures, empty!.failures], [[], [], []]);
  assert.deepEqual([top!.stats.wiki, filled!.stats.wiki, filled!.stats.repository], [one, one, one]);
  assert.deepEqual([empty!.status, empty!.stats.repository], ['finished', undefined]);
  for (const [place, slug] of [
    [`/projects/${filled!.project_id}`, 'Varieties'],
    [`/groups/${top!.namespace_id}`, 'Rules'],
  ])
    assert.equal((await as('owner').get(`${place}/wikis/${slug}`)).body.content, 'second');
  const { body: file } = await as('owner').get(`/projects/${filled!.project_id}/repository/files/README.md`, {
    ref: 'main',
  });
  assert.equal(Buffer.from(file.content, 'base64').toString(), 'apples');
  assert.equal((await db.selectFrom('events').select('id').execute()).length, events.length);
  assert.deepEqual(await readdir(services.downloads).catch(() => []), []);
});

/** A project that does not export its repository. */
const apples: SourceEntity = {
  ...{ type: 'project', id: 8, full_path: 'orchard/apples', relations: { self: [{}] } },
  attributes: { empty_repo: false },
};

test('snippets have their history', async (t) => {
  const here = await migrationPlace(t);
  const { as, source, project, people } = here;
  const files = [{ action: 'create', file_path: 'a.txt', content: 'first' }];
  const made = [];
  for (const _ of [1, 2]) {
    const snippet = { title: 'Notes', visibility: 'private', files: files.map(({ action: _, ...file }) => file) };
    made.push((await as('owner').post(`/projects/${project.id}/snippets`, snippet)).body);
  }
  const changed = [{ action: 'update', file_path: 'a.txt', content: 'second' }];
  await as('owner').put(`/projects/${project.id}/snippets/${made[0].id}`, { files: changed });
  const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2021-01-02T03:04:05.678Z' };
  const record = { title: 'Notes', visibility_level: 0, author_id: 1, ...times, file_name: 'a.txt', content: 'last' };
  const listed = [1, 2].map((id) => ({
    id,
    title: 'Notes',
    created_at: times.created_at,
    http_url_to_repo: `${source.url}/orchard/apples/snippets/${id}.git`,
  }));
  const elsewhere = { ...listed[0], id: 3, http_url_to_repo: 'http://127.0.0.1:1/orchard/apples/snippets/3.git' };
  for (const [index, { id }] of made.entries())
    source.repositories.set(`orchard/apples/snippets/${index + 1}.git`, {
      url: `${here.url}/${project.full_path}/snippets/${id}.git`,
      token: people.owner.token,
    });
  source.entities = [
    {
      type: 'project',
      id: 8,
      full_path: 'orchard/apples',
      ...{
        relations: { self: [{}], snippets: [[record, record, record]] },
        answers: { '/snippets': [elsewhere, ...listed] },
      },
    },
  ];
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await runMigrations(here);
  const [filled] = await entitiesOf(here, id);
  assert.deepEqual(
    [filled!.failures, filled!.stats.snippet_repositories],
    [[], { source: 2, fetched: 2, imported: 2 }],
  );
  const { body: snippets } = await as('owner').get(`/projects/${filled!.project_id}/snippets`, { sort: 'asc' });
  const contents = [];
  for (const { id, updated_at } of snippets.toSorted(
    (one: { id: number }, other: { id: number }) => one.id - other.id,
  )) {
    const headers = { 'private-token': people.owner.token };
    const raw = await fetch(`${here.url}/api/v4/projects/${filled!.project_id}/snippets/${id}/raw`, { headers });
    contents.push([await raw.text(), updated_at]);
  }
  assert.deepEqual(
    contents,
    ['second', 'first', 'last'].map((text) => [text, times.updated_at]),
  );
});

const one = { source: 1, fetched: 1, imported: 1 };

test('a repository that cannot be fetched has three attempts, and its project is deleted', async (t) => {
  const here = await migrationPlace(t, [apples]);
  const { source } = here;
  let asked = 0;
  source.answers.set('GET /orchard/apples.git/info/refs', (response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end('no such protocol');
  });
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await runMigrations(here);
  const [failed] = await entitiesOf(here, id);
  assert.deepEqual([failed!.status, asked], ['failed', 6]);
  assert.deepEqual(
    failed!.failures.map(({ exception_class, exception_message }) => [exception_class, exception_message]),
    [['InvalidContent', 'The repository cannot be read.']],
  );
  // A project without its repository is worth nothing.
  await performQueued(here.services, [removeProject]);
  assert.equal((await here.as('owner').get(`/projects/${failed!.project_id}`)).status, 404);
});
