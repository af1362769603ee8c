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
  const here = await filledWorld();
  const url = `/projects/${here.project.id}`;
  assert.equal(
    (await here.as('guest').post(`${url}/fork`)).status,
    409,
    'guests do not read the code of a private project',
  );
  const forked = await here.as('reporter').post(`${url}/fork`, { path: 'my-copy', description: 'Mine' });
  assert.equal(forked.status, 201);
  const { id, import_status, visibility, forked_from_project, description, permissions } = forked.body;
  assert.deepEqual(
    [import_status, visibility, forked_from_project.id, description, permissions],
    ['scheduled', 'private', here.project.id, 'Mine', undefined],
  );
  assert.equal(forked.body.path_with_namespace, `${here.people.reporter.username}/my-copy`);
  const progress = (await here.as('reporter').get(`/projects/${id}/import`)).body;
  assert.deepEqual(
    [progress.id, progress.import_status, progress.import_error, progress.failed_relations],
    [id, 'scheduled', null, []],
  );
  const ofSource = (await here.as('guest').get(`${url}/import`)).body;
  assert.deepEqual([ofSource.import_status, 'import_error' in ofSource], ['none', false]);
  const filling = 'The project is still being filled. Try again when its `import_status` is `finished`.';
  for (const early of [
    await here.as('reporter').post(fileUrl({ id }, 'early.txt'), { ...onMain, content: 'x' }),
    await here.as('reporter').post(`/projects/${id}/issues`, { title: 'Early' }),
    await here.as('reporter').delete(`/projects/${id}/fork`),
  ])
    assert.deepEqual([early.status, early.body], [403, { message: `403 Forbidden - ${filling}` }]);
  const { run } = await gitClient();
  const remote = remoteOf(here.url, forked.body.path_with_namespace, here.people.reporter.token);
  await run(['init', '-q']);
  await run(['commit', '-q', '--allow-empty', '-m', 'Early']);
  const pushed = await run(['push', remote, 'HEAD:main']);
  assert.match(pushed.stderr, /The project is still being filled/);
  assert.equal((await here.as('reporter').get(`/projects/${id}`)).body.forked_from_project.id, here.project.id);

  assert.deepEqual(await performQueued(here.services, [copyFork]), ['copy_fork']);
  const copied = (await here.as('reporter').get(`/projects/${id}`)).body;
  assert.deepEqual([copied.import_status, copied.empty_repo, copied.default_branch], ['finished', false, 'main']);
  assert.equal(copied.readme_url, `${copied.web_url}/-/blob/main/README.md`);
  const repository = repositoryOf(here.services, { id, storage: 'default' });
  assert.equal(await resolveBranch(repository, 'main'), await headOf(here));
  assert.equal((await run(['push', remote, 'HEAD:refs/heads/late'])).code, 0);
  await performJob(here.services, copyFork, { project_id: id, source_id: here.project.id });

  const change = await here.as('reporter').post(fileUrl({ id }, 'new.txt'), { ...onMain, content: 'x' });
  assert.equal(change.status, 201);
  assert.notEqual(await resolveBranch(repository, 'main'), await headOf(here));
  const forks = (await here.as('admin').get(`${url}/forks`)).body;
  assert.deepEqual(
    forks.map((fork: { id: number }) => fork.id),
    [id],
  );
  assert.deepEqual((await here.as('owner').get(`${url}/forks`)).body, [], 'a private fork is hidden from others');
  for (const [by, expected] of [
    ['owner', 0],
    ['developer', 0],
    ['reporter', 1],
    ['admin', 1],
  ] as const)
    assert.equal((await here.as(by).get(url)).body.forks_count, expected, by);

  await here.as('owner').delete(url);
  await performJob(here.services, removeProject, { project_id: here.project.id });
  await maintain(repository);
  const alone = (await here.as('reporter').get(`/projects/${id}`)).body;
  assert.equal(alone.forked_from_project, undefined);
  assert.equal(
    (await here.as('reporter').get(`${fileUrl({ id }, 'README.md')}/raw`, { ref: 'main' })).body,
    'one\ntwo\n',
  );
});

test('a fork of one branch copies nothing of the others', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}`;
  await here.as('developer').post(`${url}/repository/branches`, { branch: 'side', ref: 'main' });
  await here
    .as('developer')
    .post(fileUrl(here.project, 'side.txt'), { branch: 'side', commit_message: 'Side', content: 'x' });
  const unknown = await here.as('reporter').post(`${url}/fork`, { branches: 'main,none' });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Source Branch Not Found' }]);
  const { id } = (await here.as('reporter').post(`${url}/fork`, { branches: 'main' })).body;
  await performQueued(here.services, [copyFork]);
  const branches = (await here.as('reporter').get(`/projects/${id}/repository/branches`)).body;
  assert.deepEqual(
    branches.map(({ name }: { name: string }) => name),
    ['main'],
  );
  const side = await headOf(here, 'side');
  assert.equal((await here.as('reporter').get(`/projects/${id}/repository/commits/${side}`)).status, 404);
});

test('invalid values of a fork are conflicts, and a fork is never more visible than its source', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}`;
  for (const namespace of ['9223372036854775807', 2 ** 63])
    for (const parameters of [{ namespace }, { namespace_id: namespace }]) {
      const nowhere = await here.as('reporter').post(`${url}/fork`, parameters);
      assert.deepEqual([nowhere.status, nowhere.body], [404, { message: '404 Target Namespace Not Found' }]);
    }
  const own = await here.as('reporter').post(`${url}/fork`);
  assert.equal(own.status, 201);
  const again = await here.as('reporter').post(`${url}/fork`);
  assert.deepEqual([again.status, again.body.message.path], [409, ['has already been taken']]);
  const shown = await here.as('developer').post(`${url}/fork`, { visibility: 'public' });
  assert.deepEqual(
    [shown.status, shown.body],
    [
      409,
      { message: { visibility_level: ['public is not allowed since the fork source project has lower visibility.'] } },
    ],
  );
  const raised = await here.as('reporter').put(`/projects/${own.body.id}`, { visibility: 'public' });
  assert.equal(raised.status, 400);
  const foreign = await here.as('reporter').post(`${url}/fork`, { namespace_path: here.people.guest.username });
  assert.deepEqual([foreign.status, foreign.body], [404, { message: '404 Target Namespace Not Found' }]);

  await here.as('owner').put(url, { forking_access_level: 'disabled' });
  assert.equal((await here.as('developer').post(`${url}/fork`)).status, 409);
  assert.equal((await here.as('admin').get(`${url}/forks`)).body.length, 1);
});

test('a fork relationship is created and deleted', async () => {
  const here = await filledWorld();
  const { id } = (await here.as('owner').post('/projects', { name: 'loose', namespace_id: here.group.id })).body;
  const relation = `/projects/${id}/fork`;
  assert.equal((await here.as('maintainer').post(`${relation}/${here.project.id}`)).status, 403);
  assert.deepEqual((await here.as('owner').post(`${relation}/99999999`)).body, {
    message: '404 Source Project Not Found',
  });
  const related = await here.as('owner').post(`${relation}/${here.project.id}`);
  assert.deepEqual([related.status, related.body.forked_from_project.id], [201, here.project.id]);
  assert.equal((await here.as('owner').post(`${relation}/${here.project.id}`)).status, 409);
  assert.equal((await here.as('owner').delete(relation)).status, 204);
  assert.equal((await here.as('owner').delete(relation)).status, 304);
});

test('a fork that is still being copied cannot be forked, because the new fork would be incomplete', async () => {
  const here = await filledWorld();
  const { id } = (await here.as('reporter').post(`/projects/${here.project.id}/fork`)).body;
  const fork = () => here.as('reporter').post(`/projects/${id}/fork`, { path: 'second', name: 'second' });
  const early = await fork();
  assert.deepEqual(
    [early.status, early.body],
    [409, { message: 'The project is still being copied from its own source.' }],
  );
  await performQueued(here.services, [copyFork]);
  assert.equal((await fork()).status, 201);
});

test('a fork that is deleted while it is copied leaves no folder behind', async () => {
  const here = await filledWorld();
  const { id } = (await here.as('reporter').post(`/projects/${here.project.id}/fork`)).body;
  const { path } = repositoryOf(here.services, { id, storage: 'default' });
  // Deleted between the first and the last statement of the job.
  await sql`
    create function remove_fork() returns trigger language plpgsql as 'begin delete from projects where id = new.id; return null; end'`.execute(
    here.db,
  );
  await sql`
    create trigger remove_fork after update of import_status on projects
      for each row when (new.import_status = 'started' and new.id = ${sql.lit(id)}) execute function remove_fork()`.execute(
    here.db,
  );
  try {
    await performQueued(here.services, [copyFork]);
  } finally {
    await sql`drop function remove_fork cascade`.execute(here.db);
  }
  assert.equal((await here.as('reporter').get(`/projects/${id}`)).status, 404);
  assert.ok(!existsSync(path));
});

test('a fork whose source is deleted before the copy has failed, and is writable', async () => {
  const here = await filledWorld();
  const { id } = (await here.as('developer').post(`/projects/${here.project.id}/fork`)).body;
  await here.as('owner').delete(`/projects/${here.project.id}`);
  await performJob(here.services, removeProject, { project_id: here.project.id });
  await performQueued(here.services, [copyFork]);
  const failed = (await here.as('developer').get(`/projects/${id}`)).body;
  assert.deepEqual([failed.import_status, failed.import_error], ['failed', 'The repository could not be copied.']);
  assert.equal((await here.as('developer').post(fileUrl({ id }, 'a.txt'), { ...onMain, content: 'x' })).status, 201);
});
