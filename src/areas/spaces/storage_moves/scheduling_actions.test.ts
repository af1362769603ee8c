import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { atFileEnd } from '../../../../test/support/file_end.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { placeOf } from '../../../git/index.ts';
import { continueMoves, moveRepositories, scheduleMoves } from './index.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'coppice-storages-'));
await Promise.all(['default', 'second'].map((name) => mkdir(path.join(folder, name))));
atFileEnd(() => rm(folder, { recursive: true, force: true }));
const environment = { COPPICE_STORAGES: `default=${folder}/default,second=${folder}/second` };

const movable = () => filledWorld({ environment });
const run = ({ services }: World) => performQueued(services, [moveRepositories, continueMoves]);
const movesOf = (name: string, id: number) => `/${name}s/${id}/repository_storage_moves`;

async function weigh(here: World, weights: Record<string, number>): Promise<void> {
  const { status } = await here.as('admin').put('/application/settings', { repository_storages_weighted: weights });
  assert.equal(status, 200);
}

test('bad requests are refused, and schedule nothing', async () => {
  const here = await movable();
  const [admin, url] = [here.as('admin'), movesOf('project', here.project.id)];
  const attic = { destination_storage_name: 'attic' };
  const refused = async (
    answer: Promise<{ status: number; body: { message: unknown } }>,
    status: number,
    message: unknown,
  ) => {
    const { status: actual, body } = await answer;
    assert.deepEqual([actual, body.message], [status, message]);
  };
  await refused(admin.post(url, attic), 400, { destination_storage_name: ['is not included in the list'] });
  await refused(admin.post(url, { destination_storage_name: '' }), 400, {
    destination_storage_name: ["can't be blank"],
  });
  const all = '/project_repository_storage_moves';
  await refused(admin.post(all), 400, 'source_storage_name is missing');
  await refused(
    admin.post(all, { source_storage_name: 'attic' }),
    400,
    'source_storage_name does not have a valid value',
  );
  await refused(admin.get(`${all}/first`), 400, 'repository_storage_id is invalid');
  for (const [name, missing] of [
    ['project', '404 Project Not Found'],
    ['group', '404 Group Not Found'],
    ['snippet', '404 Snippet Not Found'],
  ] as const)
    await refused(admin.post(movesOf(name, 0)), 404, missing);
  await refused(here.as('owner').post(url), 403, '403 Forbidden');
  await refused(here.as('owner').get(movesOf('project', 0)), 403, '403 Forbidden');
  await refused(here.as('anonymous').get(url), 401, '401 Unauthorized');
  assert.deepEqual((await admin.get(url)).body, []);

  const { body: move } = await admin.post(url, { destination_storage_name: 'default' });
  await refused(admin.post(url), 400, { project: ['is read-only'] });
  const { body: other } = await here.as('maintainer').post('/projects', { name: 'Other' });
  await refused(admin.get(`${movesOf('project', other.id)}/${move.id}`), 404, '404 Not found');
  assert.deepEqual((await admin.get(url)).body, [move]);
});

test('all projects on a storage are scheduled once, and go where the weights say, but not where they are', async () => {
  const here = await movable();
  const admin = here.as('admin');
  await weigh(here, { default: 100, second: 1 });
  for (let time = 0; time < 2; time++) {
    const { status, body } = await admin.post('/project_repository_storage_moves', { source_storage_name: 'default' });
    assert.deepEqual([status, body], [202, { message: '202 Accepted' }]);
    await performQueued(here.services, [scheduleMoves]);
  }
  const { body: moves } = await admin.get(movesOf('project', here.project.id));
  assert.deepEqual(
    moves.map((move: Record<string, unknown>) => [move.state, move.destination_storage_name]),
    [['scheduled', 'second']],
  );
  const on = here.db.selectFrom('projects').select('id').where('storage', '=', 'default').execute();
  const scheduled = here.db
    .selectFrom('repository_storage_moves')
    .select('project_id')
    .where('state', '=', 'scheduled')
    .execute();
  assert.equal((await scheduled).length, (await on).length);
});

test('new repositories of projects, snippets and wikis lie where the weights say', async () => {
  const here = await movable();
  const { db } = here;
  await weigh(here, { default: 0, second: 100 });
  const owner = here.as('owner');
  const { body: project } = await owner.post('/projects', { name: 'Weighed', initialize_with_readme: true });
  const { body: snippet } = await owner.post('/snippets', { title: 'One', files: [{ file_path: 'a', content: 'a' }] });
  const { body: group } = await owner.post('/groups', { name: 'Weighed', path: `weighed-${project.id}` });
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`])
    assert.equal((await owner.post(`${place}/wikis`, { title: 'home', content: 'x' })).status, 201);
  await weigh(here, { default: 100, second: 0 });
  const wikis = db.selectFrom('wikis').select('storage');
  const found = [
    await db.selectFrom('projects').select('storage').where('id', '=', project.id).executeTakeFirst(),
    await db.selectFrom('snippets').select('storage').where('id', '=', snippet.id).executeTakeFirst(),
    await wikis.where('project_id', '=', project.id).executeTakeFirst(),
    await wikis.where('group_id', '=', group.id).executeTakeFirst(),
  ];
  assert.deepEqual(
    found.map((row) => row?.storage),
    ['second', 'second', 'second', 'second'],
  );
  assert.equal((await here.as('admin').get(`/groups/${group.id}`)).body.repository_storage, 'second');
});

test('a wiki moves with its project or group, and a group without one has its next wiki on the new storage', async () => {
  const here = await movable();
  const { db, project, group } = here;
  const admin = here.as('admin');
  const move = async (name: string, id: number) => {
    const { body } = await admin.post(movesOf(name, id), { destination_storage_name: 'second' });
    await run(here);
    return (await admin.get(`${movesOf(name, id)}/${body.id}`)).body.state;
  };
  const write = async (place: string) =>
    assert.equal((await here.as('maintainer').post(`${place}/wikis`, { title: 'home', content: 'x' })).status, 201);
  await write(`/projects/${project.id}`);
  assert.equal(await move('project', project.id), 'replicated');
  assert.equal((await here.as('guest').get(`/projects/${project.id}/wikis/home`)).body.content, 'x');
  assert.equal(await move('group', group.id), 'finished');
  await write(`/groups/${group.id}`);
  const rows = await db
    .selectFrom('wikis')
    .select('storage')
    .where((is) => is.or([is('project_id', '=', project.id), is('group_id', '=', group.id)]))
    .execute();
  assert.deepEqual(rows, [{ storage: 'second' }, { storage: 'second' }]);
});

test('an archived project moves, and a torn source fails its move, which leaves it where it is and writable', async () => {
  const here = await movable();
  const { services, project } = here;
  const [admin, url] = [here.as('admin'), movesOf('project', project.id)];
  const { body: archived } = await here
    .as('owner')
    .post('/projects', { name: 'Archived', initialize_with_readme: true });
  await here.as('owner').post(`/projects/${archived.id}/archive`);
  await admin.post(movesOf('project', archived.id), { destination_storage_name: 'second' });
  await run(here);
  assert.equal((await admin.get(movesOf('project', archived.id))).body[0].state, 'replicated');

  const { body: file } = await here.as('maintainer').get(fileUrl(project, 'README.md'), { ref: 'main' });
  const source = placeOf(services, { id: project.id, storage: 'default' });
  await rm(path.join(source, 'objects', file.blob_id.slice(0, 2), file.blob_id.slice(2)));
  await admin.post(url, { destination_storage_name: 'second' });
  await run(here);
  const [failed] = (await admin.get(url)).body;
  assert.equal(failed.state, 'failed');
  assert.match(failed.error_message, /^The repository is damaged: /);
  assert.ok(!failed.error_message.includes(folder));
  assert.equal((await admin.get(`/projects/${project.id}`)).body.repository_storage, 'default');
  const written = await here.as('maintainer').post(fileUrl(project, 'NEW.md'), { ...onMain, content: 'new' });
  assert.equal(written.status, 201);
});
