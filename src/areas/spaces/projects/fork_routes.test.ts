import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { fileUrl, filledWorld, headOf, onMain } from '../../../../test/support/repository.ts';
import { maintain, repositoryOf, resolveBranch } from '../../../git/index.ts';
import { copyFork, removeProject } from './index.ts';

test('a fork is copied by a job, is an independent project, and names its source', async () => {
  const w = await filledWorld();
  const url = `/projects/${w.project.id}`;
  assert.equal((await w.as('guest').post(`${url}/fork`)).status, 409, 'guests do not read the code of a private project');
  const forked = await w.as('reporter').post(`${url}/fork`, { path: 'my-copy', description: 'Mine' });
  assert.equal(forked.status, 201);
  const { id, import_status, visibility, forked_from_project, description, permissions } = forked.body;
  assert.deepEqual(
    [import_status, visibility, forked_from_project.id, description, permissions],
    ['scheduled', 'private', w.project.id, 'Mine', undefined],
  );
  assert.equal(forked.body.path_with_namespace, `${w.people.reporter.username}/my-copy`);
  const filling = 'The fork is still being filled. Try again when its `import_status` is `finished`.';
  for (const early of [
    await w.as('reporter').post(fileUrl({ id }, 'early.txt'), { ...onMain, content: 'x' }),
    await w.as('reporter').post(`/projects/${id}/issues`, { title: 'Early' }),
    await w.as('reporter').delete(`/projects/${id}/fork`),
  ])
    assert.deepEqual([early.status, early.body], [403, { message: `403 Forbidden - ${filling}` }]);
  const { run } = await gitClient();
  const remote = remoteOf(w.url, forked.body.path_with_namespace, w.people.reporter.token);
  await run(['init', '-q']);
  await run(['commit', '-q', '--allow-empty', '-m', 'Early']);
  const pushed = await run(['push', remote, 'HEAD:main']);
  assert.match(pushed.stderr, /The fork is still being filled/);
  assert.equal((await w.as('reporter').get(`/projects/${id}`)).body.forked_from_project.id, w.project.id);

  assert.deepEqual(await performQueued(w.services, [copyFork]), ['copy_fork']);
  const copied = (await w.as('reporter').get(`/projects/${id}`)).body;
  assert.deepEqual([copied.import_status, copied.empty_repo, copied.default_branch], ['finished', false, 'main']);
  const repository = repositoryOf(w.services, { id, storage: 'default' });
  assert.equal(await resolveBranch(repository, 'main'), await headOf(w));
  assert.equal((await run(['push', remote, 'HEAD:refs/heads/late'])).code, 0);
  await performJob(w.services, copyFork, { project_id: id, source_id: w.project.id });

  const change = await w.as('reporter').post(fileUrl({ id }, 'new.txt'), { ...onMain, content: 'x' });
  assert.equal(change.status, 201);
  assert.notEqual(await resolveBranch(repository, 'main'), await headOf(w));
  const forks = (await w.as('admin').get(`${url}/forks`)).body;
  assert.deepEqual(
    forks.map((fork: { id: number }) => fork.id),
    [id],
  );
  assert.deepEqual((await w.as('owner').get(`${url}/forks`)).body, [], 'a private fork is hidden from others');
  assert.equal((await w.as('owner').get(url)).body.forks_count, 1);

  await w.as('owner').delete(url);
  await performJob(w.services, removeProject, { project_id: w.project.id });
  await maintain(repository);
  const alone = (await w.as('reporter').get(`/projects/${id}`)).body;
  assert.equal(alone.forked_from_project, undefined);
  assert.equal((await w.as('reporter').get(`${fileUrl({ id }, 'README.md')}/raw`, { ref: 'main' })).body, 'one\ntwo\n');
});

test('a fork of one branch copies nothing of the others', async () => {
  const w = await filledWorld();
  const url = `/projects/${w.project.id}`;
  await w.as('developer').post(`${url}/repository/branches`, { branch: 'side', ref: 'main' });
  await w.as('developer').post(fileUrl(w.project, 'side.txt'), { branch: 'side', commit_message: 'Side', content: 'x' });
  const unknown = await w.as('reporter').post(`${url}/fork`, { branches: 'main,none' });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Source Branch Not Found' }]);
  const { id } = (await w.as('reporter').post(`${url}/fork`, { branches: 'main' })).body;
  await performQueued(w.services, [copyFork]);
  const branches = (await w.as('reporter').get(`/projects/${id}/repository/branches`)).body;
  assert.deepEqual(
    branches.map(({ name }: { name: string }) => name),
    ['main'],
  );
  const side = await headOf(w, 'side');
  assert.equal((await w.as('reporter').get(`/projects/${id}/repository/commits/${side}`)).status, 404);
});

test('invalid values of a fork are conflicts, and a fork is never more visible than its source', async () => {
  const w = await filledWorld();
  const url = `/projects/${w.project.id}`;
  for (const namespace of ['9223372036854775807', 2 ** 63])
    for (const parameters of [{ namespace }, { namespace_id: namespace }]) {
      const nowhere = await w.as('reporter').post(`${url}/fork`, parameters);
      assert.deepEqual([nowhere.status, nowhere.body], [404, { message: '404 Target Namespace Not Found' }]);
    }
  const own = await w.as('reporter').post(`${url}/fork`);
  assert.equal(own.status, 201);
  const again = await w.as('reporter').post(`${url}/fork`);
  assert.deepEqual([again.status, again.body.message.path], [409, ['has already been taken']]);
  const shown = await w.as('developer').post(`${url}/fork`, { visibility: 'public' });
  assert.deepEqual(
    [shown.status, shown.body],
    [409, { message: { visibility_level: ['public is not allowed since the fork source project has lower visibility.'] } }],
  );
  const raised = await w.as('reporter').put(`/projects/${own.body.id}`, { visibility: 'public' });
  assert.equal(raised.status, 400);
  const foreign = await w.as('reporter').post(`${url}/fork`, { namespace_path: w.people.guest.username });
  assert.deepEqual([foreign.status, foreign.body], [404, { message: '404 Target Namespace Not Found' }]);

  await w.as('owner').put(url, { forking_access_level: 'disabled' });
  assert.equal((await w.as('developer').post(`${url}/fork`)).status, 409);
  assert.equal((await w.as('admin').get(`${url}/forks`)).body.length, 1);
});

test('a fork relationship is created and deleted', async () => {
  const w = await filledWorld();
  const { id } = (await w.as('owner').post('/projects', { name: 'loose', namespace_id: w.group.id })).body;
  const relation = `/projects/${id}/fork`;
  assert.equal((await w.as('maintainer').post(`${relation}/${w.project.id}`)).status, 403);
  assert.deepEqual((await w.as('owner').post(`${relation}/99999999`)).body, { message: '404 Source Project Not Found' });
  const related = await w.as('owner').post(`${relation}/${w.project.id}`);
  assert.deepEqual([related.status, related.body.forked_from_project.id], [201, w.project.id]);
  assert.equal((await w.as('owner').post(`${relation}/${w.project.id}`)).status, 409);
  assert.equal((await w.as('owner').delete(relation)).status, 204);
  assert.equal((await w.as('owner').delete(relation)).status, 304);
});

test('a fork that is still being copied cannot be forked, because the new fork would be incomplete', async () => {
  const w = await filledWorld();
  const { id } = (await w.as('reporter').post(`/projects/${w.project.id}/fork`)).body;
  const fork = () => w.as('reporter').post(`/projects/${id}/fork`, { path: 'second', name: 'second' });
  const early = await fork();
  assert.deepEqual([early.status, early.body], [409, { message: 'The project is still being copied from its own source.' }]);
  await performQueued(w.services, [copyFork]);
  assert.equal((await fork()).status, 201);
});

test('a fork that is deleted while it is copied leaves no folder behind', async () => {
  const w = await filledWorld();
  const { id } = (await w.as('reporter').post(`/projects/${w.project.id}/fork`)).body;
  const { path } = repositoryOf(w.services, { id, storage: 'default' });
  // Deleted between the first and the last statement of the job.
  await sql`
    create function remove_fork() returns trigger language plpgsql as 'begin delete from projects where id = new.id; return null; end'`.execute(
    w.db,
  );
  await sql`
    create trigger remove_fork after update of import_status on projects
      for each row when (new.import_status = 'started' and new.id = ${sql.lit(id)}) execute function remove_fork()`.execute(w.db);
  try {
    await performQueued(w.services, [copyFork]);
  } finally {
    await sql`drop function remove_fork cascade`.execute(w.db);
  }
  assert.equal((await w.as('reporter').get(`/projects/${id}`)).status, 404);
  assert.ok(!existsSync(path));
});

test('a fork whose source is deleted before the copy has failed, and is writable', async () => {
  const w = await filledWorld();
  const { id } = (await w.as('developer').post(`/projects/${w.project.id}/fork`)).body;
  await w.as('owner').delete(`/projects/${w.project.id}`);
  await performJob(w.services, removeProject, { project_id: w.project.id });
  await performQueued(w.services, [copyFork]);
  const failed = (await w.as('developer').get(`/projects/${id}`)).body;
  assert.deepEqual([failed.import_status, failed.import_error], ['failed', 'The repository could not be copied.']);
  assert.equal((await w.as('developer').post(fileUrl({ id }, 'a.txt'), { ...onMain, content: 'x' })).status, 201);
});
