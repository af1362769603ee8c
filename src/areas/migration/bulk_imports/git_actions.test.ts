import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { entitiesOf, migrated, runMigrations } from '../../../../test/support/migrations.ts';
import { onMain } from '../../../../test/support/repository.ts';
import { migrationPlace, type SourceEntity } from '../../../../test/support/source.ts';

test('wikis of projects and groups, and repositories that are not exported, come over git', async (t) => {
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
    { ...{ type: 'project', id: 9, full_path: 'orchard/empty' }, relations: { self: [{}] } },
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
  const { body: file } = await as('owner').get(`/projects/${filled!.project_id}/repository/files/README.md`, { ref: 'main' });
  assert.equal(Buffer.from(file.content, 'base64').toString(), 'apples');
  assert.equal((await db.selectFrom('events').select('id').execute()).length, events.length);
  assert.deepEqual(await readdir(services.downloads).catch(() => []), []);
});

/** A project that does not export its repository. */
const apples: SourceEntity = {
  ...{ type: 'project', id: 8, full_path: 'orchard/apples', relations: { self: [{}] } },
  attributes: { empty_repo: false },
};

const one = { source: 1, fetched: 1, imported: 1 };

test('a repository that cannot be fetched is tried three times', async (t) => {
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
});
