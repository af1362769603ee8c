import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { fileUrl, repositoryIn } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { type RefUpdate, resolveBranch, updateRefs, writeCommit } from '../../../git/index.ts';
import { settleReferenceUpdates } from './index.ts';

const ada = { name: 'Ada', email: 'ada@example.com', date: new Date('2025-01-01T00:00:00Z') };

/** A commit that no branch has yet. */
async function newCommit(here: World, parent: string | null = null): Promise<string> {
  const changes = [
    { op: 'put', path: `file-${parent ?? 'first'}`, mode: '100644', content: Buffer.from('x') },
  ] as const;
  return (await writeCommit(repositoryIn(here), { parent, message: 'x', author: ada, committer: ada, changes })).id;
}

/** The row that a process leaves which dies while references move. */
async function leftRow({ db, project, people }: World, updates: RefUpdate[], age_minutes = 0): Promise<void> {
  const created_at = sql<string>`now() - make_interval(mins => ${age_minutes})`;
  await db
    .insertInto('reference_updates')
    .values({ project_id: project.id, user_id: people.developer.id, updates: JSON.stringify(updates), created_at })
    .execute();
}

const rowsOf = async ({ db, project }: World) =>
  (await db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute()).length;
const projectOf = ({ db, project }: World) =>
  db
    .selectFrom('projects')
    .select(['empty_repo', 'default_branch'])
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();

test('a push whose process died after the branch moved is settled at the next start', async () => {
  const here = await world({});
  const id = await newCommit(here);
  const update = { ref: 'refs/heads/trunk', old: null, new: id };
  await leftRow(here, [update]);
  await updateRefs(repositoryIn(here), [update]);
  assert.deepEqual(await projectOf(here), { empty_repo: true, default_branch: 'main' });

  await settleReferenceUpdates(here.services);
  assert.deepEqual(await projectOf(here), { empty_repo: false, default_branch: 'trunk' });
  assert.equal(await rowsOf(here), 0);
  assert.equal((await here.as('reporter').get(`/projects/${here.project.id}/repository/commits/HEAD`)).body.id, id);
});

test('the push is settled even if the branch has moved on or was deleted', async () => {
  const here = await world({});
  const first = await newCommit(here);
  const second = await newCommit(here, first);
  await updateRefs(repositoryIn(here), [{ ref: 'refs/heads/main', old: null, new: second }]);
  await leftRow(here, [
    { ref: 'refs/heads/main', old: null, new: first },
    { ref: 'refs/heads/gone', old: first, new: null },
  ]);
  await settleReferenceUpdates(here.services);
  assert.equal((await projectOf(here)).empty_repo, false);
  assert.equal(await rowsOf(here), 0);
});

test('a move that did not happen is dropped, but not while it may still happen', async () => {
  const here = await world({});
  const id = await newCommit(here);
  const never = { ref: 'refs/heads/main', old: null, new: id };
  await leftRow(here, [never]);
  await settleReferenceUpdates(here.services);
  assert.equal(await rowsOf(here), 1);

  await leftRow(here, [never], 60);
  await leftRow(here, [{ ...never, new: 'f'.repeat(40) }], 60);
  await settleReferenceUpdates(here.services);
  assert.equal(await rowsOf(here), 1);
  assert.deepEqual(await projectOf(here), { empty_repo: true, default_branch: 'main' });
});

test('the lock that git left when it was killed with the server is gone after the next start', async () => {
  const here = await world({});
  const id = await newCommit(here);
  const repository = repositoryIn(here);
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: id }]);
  await leftRow(here, [{ ref: 'refs/heads/main', old: id, new: await newCommit(here, id) }]);
  const lock = path.join(repository.path, 'refs/heads/main.lock');
  await writeFile(lock, '');
  const write = async () => {
    const file = { branch: 'main', commit_message: 'Add a file', content: 'x' };
    return (await here.as('maintainer').post(fileUrl(here.project, 'a.txt'), file)).status;
  };
  assert.equal(await write(), 500);
  await settleReferenceUpdates(here.services);
  await settleReferenceUpdates(here.services, { alone_since: new Date(Date.now() - 60_000) });
  assert.ok(existsSync(lock), 'another server may hold it, or this one');
  await settleReferenceUpdates(here.services, { alone_since: new Date() });
  assert.equal(await write(), 201);
});

test('a push that moved some of its branches is given time, and then settled for those', async () => {
  const here = await world({});
  const id = await newCommit(here);
  const done = { ref: 'refs/heads/done', old: null, new: id };
  const undone = { ref: 'refs/heads/undone', old: null, new: id };
  await updateRefs(repositoryIn(here), [done]);
  await leftRow(here, [undone, done]);
  await settleReferenceUpdates(here.services);
  assert.deepEqual([await rowsOf(here), (await projectOf(here)).empty_repo], [1, true]);

  await here.db.deleteFrom('reference_updates').execute();
  await leftRow(here, [undone, done], 60);
  await settleReferenceUpdates(here.services);
  assert.deepEqual([await rowsOf(here), await projectOf(here)], [0, { empty_repo: false, default_branch: 'done' }]);
});

test('an unreadable repository does not keep others from being settled', async () => {
  const broken = await world({});
  const here = await world({});
  await leftRow(broken, [{ ref: 'refs/heads/main', old: null, new: 'f'.repeat(40) }], 60);
  await broken.db.updateTable('projects').set({ storage: 'elsewhere' }).where('id', '=', broken.project.id).execute();
  const update = { ref: 'refs/heads/main', old: null, new: await newCommit(here) };
  await leftRow(here, [update]);
  await updateRefs(repositoryIn(here), [update]);
  await assert.rejects(settleReferenceUpdates(here.services), AggregateError);
  assert.deepEqual([await rowsOf(broken), await rowsOf(here)], [1, 0]);
  assert.equal((await projectOf(here)).empty_repo, false);
  assert.equal(await resolveBranch(repositoryIn(here), 'main'), update.new);
});
