import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { repositoryOf, updateRefs, writeCommit } from '../../../git/index.ts';
import { maintainRepository } from '../repository/owners/jobs.ts';
import { removeUnused } from '../repository/owners/unused_jobs.ts';
import { settleReferenceUpdates } from '../repository/settlement_jobs.ts';
import { placeOf } from './kind.ts';

const files = [{ file_path: 'a.txt', content: 'apples\n' }];

async function filled() {
  const here = await world({});
  const url = `/projects/${here.project.id}/snippets`;
  const { body } = await here.as('reporter').post(url, { title: 'Fruit', files });
  const repository = repositoryOf(here.services, placeOf({ id: body.id, storage: 'default' }));
  return { here, snippet: body, url: `${url}/${body.id}`, repository };
}

const rowOf = ({ db }: World, id: number) =>
  db.selectFrom('snippets').select(['commit_id', 'title', 'paths']).where('id', '=', id).executeTakeFirstOrThrow();

const movesOf = ({ db }: World) => db.selectFrom('reference_updates').select('id').execute();

test('a change interrupted by a crash is completed with its title if the branch has moved, and dropped otherwise', async () => {
  const { here, snippet, url, repository } = await filled();
  const { db, services } = here;
  const before = await rowOf(here, snippet.id);
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date() };
  const { id } = await writeCommit(repository, {
    parent: before.commit_id,
    message: 'Update snippet',
    author: person,
    committer: person,
    changes: [{ op: 'put', path: 'b.txt', mode: '100644', content: Buffer.from('bees\n') }],
  });
  const update = { ref: 'refs/heads/main', old: before.commit_id, new: id };
  const announce = (title: string) =>
    db
      .insertInto('reference_updates')
      .values({
        snippet_id: snippet.id,
        user_id: here.people.reporter.id,
        updates: JSON.stringify([update]),
        changes: JSON.stringify({ title }),
        created_at: '2020-01-01T00:00:00Z',
      })
      .execute();
  await announce('Never');
  await settleReferenceUpdates(services);
  assert.deepEqual(await rowOf(here, snippet.id), before);
  assert.deepEqual(await movesOf(here), []);

  await announce('Trees');
  await updateRefs(repository, [update]);
  assert.equal((await here.as('guest').get(`${url}/files/main/a.txt/raw`)).body, 'apples\n');
  assert.deepEqual((await here.as('guest').get(url)).body, snippet, 'readers see the change as a whole');
  await settleReferenceUpdates(services);
  assert.deepEqual(await rowOf(here, snippet.id), { commit_id: id, title: 'Trees', paths: ['a.txt', 'b.txt'] });
  assert.deepEqual(await movesOf(here), []);
  await settleReferenceUpdates(services);
  assert.equal(
    (await here.as('reporter').put(url, { files: [{ action: 'delete', file_path: 'a.txt' }] })).body.file_name,
    'b.txt',
  );
});

test('leftovers of a creation interrupted by a crash are deleted an hour later, and repositories of snippets never are', async () => {
  const { here, snippet, url, repository } = await filled();
  const { db, services } = here;
  const { rows } = await sql<{ id: number }>`
    insert into unused_repositories (kind, id, storage, due_at)
    values ('snippet', nextval(pg_get_serial_sequence('snippets', 'id')), 'default', now() + interval '1 hour')
    returning id`.execute(db);
  const unused = db
    .selectFrom('unused_repositories')
    .select('id')
    .where('kind', '=', 'snippet')
    .where('id', '=', rows[0]!.id);
  await performJob(services, removeUnused);
  assert.equal((await unused.execute()).length, 1, 'it may be in progress');
  await db.updateTable('unused_repositories').set({ due_at: '2020-01-01T00:00:00Z' }).execute();
  await performJob(services, removeUnused);
  assert.deepEqual(await unused.execute(), []);
  assert.notEqual(rows[0]!.id, snippet.id);
  assert.equal((await here.as('guest').get(`${url}/raw`)).body, 'apples\n');
  await rm(repository.path, { recursive: true });
  assert.equal((await here.as('reporter').delete(url)).status, 204, 'a repository that is lost keeps no snippet');
});

test('ten concurrent changes are applied one after the other, and none is lost', async () => {
  const { here, url } = await filled();
  const numbers = Array.from({ length: 9 }, (_, index) => index);
  const answers = await Promise.all(
    numbers.map((number) =>
      here
        .as('reporter')
        .put(url, { files: [{ action: 'create', file_path: `${number}.txt`, content: String(number) }] }),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { body } = await here.as('guest').get(url);
  assert.deepEqual(
    body.files.map(({ path }: { path: string }) => path),
    [...numbers.map((number) => `${number}.txt`), 'a.txt'],
  );
});

test('the statistics of a project count the repositories of its snippets, once they are measured', async () => {
  const { here, snippet } = await filled();
  const { as, project, services } = here;
  const statistics = async () =>
    (await as('reporter').get(`/projects/${project.id}`, { statistics: true })).body.statistics;
  assert.equal((await statistics()).snippets_size, 'apples\n'.length);
  await performQueued(services, [maintainRepository]);
  const { snippets_size, storage_size, repository_size } = await statistics();
  assert.ok(snippets_size >= 1024, String(snippets_size));
  assert.equal(storage_size, repository_size + snippets_size);
  await as('reporter').delete(`/projects/${project.id}/snippets/${snippet.id}`);
  assert.equal((await statistics()).snippets_size, 0);
});
