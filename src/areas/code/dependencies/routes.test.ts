import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { keepDependencies, scanDependencies } from './index.ts';

const lockOf = (file: string) => readFileSync(path.join(import.meta.dirname, '../../../../test/lockfiles', file), 'utf8');
const scan = (here: World) => performQueued(here.services, [scanDependencies]);

type Action = { action: string; file_path: string; content?: string; previous_path?: string };

/** Commits to the default branch and reads what it lists. */
async function commit(here: World, actions: Action[], branch = 'main'): Promise<string[]> {
  const body = { branch, commit_message: 'Change dependencies', actions };
  const { status } = await here.as('maintainer').post(`/projects/${here.project.id}/repository/commits`, body);
  assert.equal(status, 201);
  return scan(here);
}

const created = (file_path: string, content: string): Action => ({ action: 'create', file_path, content });

test('what the default branch is built on is listed after each change of it', async () => {
  const here = await world();
  const { as, project, db } = here;
  const url = `/projects/${project.id}/dependencies`;
  const list = async (query = {}) => (await as('reporter').get(url, query)).body as { name: string; version: string }[];
  const names = async (query = {}) => (await list(query)).map(({ name, version }) => `${name}@${version}`);
  const files = async () => (await as('reporter').get(`${url}/files`)).body;

  await commit(here, [
    created('package-lock.json', lockOf('npm3/package-lock.json')),
    created('api/Cargo.lock', lockOf('cargo/Cargo.lock')),
    created('api/go.sum', 'broken\n'),
    created('tests/yarn.lock', lockOf('yarn1/yarn.lock')),
    created('app/requirements.txt', '-r more/base.pip\nflask==1.0\n'),
    created('app/more/base.pip', 'Six==1.0\n'),
  ]);
  const all = await list({ per_page: 50 });
  assert.equal(all.length, 7 + 3 + 2);
  assert.deepEqual(
    all.find(({ name }) => name === 'kind-of'),
    {
      name: 'kind-of',
      version: '6.0.2',
      package_manager: 'npm',
      dependency_file_path: 'package-lock.json',
      licenses: [{ name: 'MIT License', spdx_identifier: 'MIT', url: 'https://spdx.org/licenses/MIT.html' }],
    },
  );
  assert.deepEqual(await names({ package_manager: 'cargo,pip' }), [
    'itoa@1.0.19',
    'maybe-uninit@2.0.0',
    'smallvec@0.6.13',
    'flask@1.0',
    'six@1.0',
  ]);
  assert.deepEqual(await names({ package_manager: ['pip'], per_page: 1, page: 2 }), ['six@1.0']);
  assert.deepEqual(await names({ package_manager: 'nuget' }), []);
  const refused = await as('reporter').get(url, { package_manager: 'npm,rust' });
  assert.deepEqual([refused.status, refused.body.error], [400, 'package_manager does not have a valid value']);
  assert.deepEqual(await files(), [
    { path: 'api/Cargo.lock', package_manager: 'cargo', count: 3, error: null },
    { path: 'api/go.sum', package_manager: 'go', count: 0, error: 'It is not a list of checksums.' },
    { path: 'app/more/base.pip', package_manager: 'pip', count: 1, error: null },
    { path: 'app/requirements.txt', package_manager: 'pip', count: 1, error: null },
    { path: 'package-lock.json', package_manager: 'npm', count: 7, error: null },
  ]);

  // A changed file keeps the ids of what it lists still; an unchanged one is not read again; one that goes takes its entries along.
  const ids = async () =>
    db.selectFrom('dependencies').select(['id', 'name']).where('project_id', '=', project.id).orderBy('id').execute();
  const before = await ids();
  const readAt = () =>
    db
      .selectFrom('dependency_files')
      .select('updated_at')
      .where('project_id', '=', project.id)
      .where('path', '=', 'package-lock.json')
      .execute();
  const readBefore = await readAt();
  const cargo = lockOf('cargo/Cargo.lock').replace('version = "1.0.19"', 'version = "1.0.20"');
  await commit(here, [
    { ...created('api/Cargo.lock', cargo), action: 'update' },
    { action: 'delete', file_path: 'app/requirements.txt' },
  ]);
  assert.deepEqual(await names({ package_manager: 'cargo' }), ['maybe-uninit@2.0.0', 'smallvec@0.6.13', 'itoa@1.0.20']);
  assert.deepEqual(await names({ package_manager: 'pip' }), []);
  const kept = new Set((await ids()).map(({ id }) => id));
  assert.ok(before.every(({ id, name }) => kept.has(id) !== ['itoa', 'flask', 'six'].includes(name)));
  assert.deepEqual(await readAt(), readBefore);

  // Another branch changes nothing until it is the default branch.
  const branch = { branch: 'next', ref: 'main' };
  await as('maintainer').post(`/projects/${project.id}/repository/branches`, branch);
  assert.deepEqual(await commit(here, [{ action: 'delete', file_path: 'package-lock.json' }], 'next'), []);
  assert.equal((await names({ package_manager: 'npm' })).length, 7);
  await as('maintainer').put(`/projects/${project.id}`, { default_branch: 'next' });
  assert.deepEqual(await scan(here), ['scan_dependencies']);
  assert.deepEqual(await names({ package_manager: 'npm' }), []);

  // Packages that nothing lists any more are forgotten a day later, and projects that were never read are.
  await sql`update package_versions set created_at = now() - interval '2 days'`.execute(db);
  await db.deleteFrom('dependency_scans').execute();
  await performJob(here.services, keepDependencies);
  const left = await db.selectFrom('package_versions').select('advised_name').orderBy('advised_name').execute();
  assert.deepEqual(
    left.map(({ advised_name }) => advised_name),
    ['itoa', 'maybe-uninit', 'smallvec'],
  );
  assert.deepEqual(await scan(here), ['scan_dependencies']);
  const scans = await db.selectFrom('dependency_scans').select('project_id').execute();
  assert.deepEqual(scans, [{ project_id: project.id }]);
});

test('dependencies are shown to callers who may read the code or hold the permission', async () => {
  const here = await world();
  const { as, project, group, db, people } = here;
  const url = `/projects/${project.id}/dependencies`;
  await commit(here, [created('Cargo.lock', lockOf('cargo/Cargo.lock'))]);
  const statuses = async (at: string) =>
    Promise.all(
      (['anonymous', 'outsider', 'guest', 'reporter', 'admin'] as const).map(
        async (persona) => (await as(persona).get(at)).status,
      ),
    );
  assert.deepEqual(await statuses(url), [401, 404, 403, 200, 200]);
  assert.deepEqual(await statuses(`${url}/files`), [401, 404, 403, 200, 200]);
  assert.deepEqual(await statuses(`/groups/${group.id}/dependencies`), [401, 404, 403, 200, 200]);
  const [first] = (await as('reporter').get(`/groups/${group.id}/dependencies`, { package_manager: 'cargo' })).body;
  assert.deepEqual(
    [first.name, first.project],
    ['itoa', { id: project.id, name: first.project.name, path_with_namespace: project.full_path }],
  );

  const role = { name: 'Security', base_access_level: 10, read_dependency: true };
  const { id } = await db.insertInto('member_roles').values(role).returning('id').executeTakeFirstOrThrow();
  await as('owner').put(`/groups/${group.id}/members/${people.guest.id}`, { access_level: 10, member_role_id: id });
  assert.deepEqual(await statuses(url), [401, 404, 200, 200, 200]);
  assert.deepEqual(await statuses(`/groups/${group.id}/dependencies`), [401, 404, 200, 200, 200]);

  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'disabled' });
  assert.deepEqual(await statuses(url), [401, 404, 403, 403, 403]);
  assert.deepEqual((await as('reporter').get(`/groups/${group.id}/dependencies`)).body, []);
});
