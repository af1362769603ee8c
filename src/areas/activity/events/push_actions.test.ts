import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type GitClient, gitClient, remoteOf } from '../../../../test/support/git.ts';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { repositoryOf, resolveBranch, updateRefs, writeCommit } from '../../../git/index.ts';
import { projectRepositories, settleReferenceUpdates } from '../../code/repository/index.ts';
import { announceUpdates } from '../../code/repository/moving/actions.ts';
import { wikiRepositories } from '../../code/wikis/index.ts';

/** The push events of a project, oldest first. */
const pushes = ({ db }: World, project_id: number) =>
  db
    .selectFrom('events')
    .innerJoin('push_event_payloads as push', 'push.event_id', 'events.id')
    .select([
      'author_id',
      'push.action',
      'ref_type',
      'ref',
      'commit_count',
      'commit_from',
      'commit_to',
      'commit_title',
      'ref_count',
    ])
    .where('project_id', '=', project_id)
    .where('events.action', '=', 'pushed')
    .where('target_type', 'is', null)
    .orderBy('id')
    .execute();

const shortly = async (here: World, project_id: number) =>
  (await pushes(here, project_id)).map(({ action, ref_type, ref, commit_count, commit_title }) => [
    ...[action, ref_type, ref, commit_count, commit_title],
  ]);

async function cloned(here: World): Promise<GitClient> {
  const client = await gitClient();
  await client.run(['clone', '-q', remoteOf(here.url, here.project.full_path, here.people.maintainer.token), 'work']);
  return client;
}

async function commit({ run, folder }: GitClient, title: string): Promise<string> {
  await writeFile(path.join(folder, 'work', 'file'), title);
  await run(['add', 'file'], { at: 'work' });
  await run(['commit', '-q', '-m', `${title}\n\nMore of it.`], { at: 'work' });
  return (await run(['rev-parse', 'HEAD'], { at: 'work' })).stdout.trim();
}

async function push({ run }: GitClient, ...args: string[]): Promise<void> {
  const { code, stderr } = await run(['push', '-q', 'origin', ...args], { at: 'work' });
  assert.equal(code, 0, stderr);
}

test('a push event has the range and the number of its commits', async () => {
  const here = await world({});
  const client = await cloned(here);
  const first = await commit(client, 'Begin');
  await push(client, 'HEAD:main');
  await commit(client, 'Go on');
  const third = await commit(client, `${'é'.repeat(66)} and on`);
  await push(client, 'HEAD:main');
  const common = { author_id: here.people.maintainer.id, ref_type: 'branch', ref: 'main', ref_count: null };
  assert.deepEqual(await pushes(here, here.project.id), [
    { ...common, action: 'created', commit_count: 1, commit_from: null, commit_to: first, commit_title: 'Begin' },
    {
      ...common,
      action: 'pushed',
      commit_count: 2,
      commit_from: first,
      commit_to: third,
      commit_title: `${'é'.repeat(66)} ...`,
    },
  ]);
});

test('a new branch counts the commits that the default branch lacks, and a deleted one counts none', async () => {
  const here = await world({});
  const client = await cloned(here);
  await commit(client, 'One');
  await commit(client, 'Two');
  await push(client, 'HEAD:main', 'HEAD:same');
  await commit(client, 'Three');
  await commit(client, 'Four');
  await push(client, 'HEAD:more');
  await push(client, ':more');
  const received = await shortly(here, here.project.id);
  assert.deepEqual(received, [
    ['created', 'branch', 'main', 2, 'Two'],
    ['created', 'branch', 'same', 0, null],
    ['created', 'branch', 'more', 2, 'Four'],
    ['removed', 'branch', 'more', 0, null],
  ]);
  const [, , , removed] = await pushes(here, here.project.id);
  assert.equal(removed!.commit_to, null);
  assert.match(removed!.commit_from!, /^[0-9a-f]{40}$/);
});

test('a force-pushed branch counts the commits that it did not have before', async () => {
  const here = await world({});
  const client = await cloned(here);
  await commit(client, 'One');
  await push(client, 'HEAD:main', 'HEAD:side');
  await commit(client, 'Two');
  await push(client, 'HEAD:side');
  await client.run(['reset', '-q', '--hard', 'HEAD~1'], { at: 'work' });
  await commit(client, 'Other');
  await push(client, '--force', 'HEAD:side');
  assert.deepEqual((await shortly(here, here.project.id)).at(-1), ['pushed', 'branch', 'side', 1, 'Other']);
});

test('the event of a tag names its commit', async () => {
  const here = await filledWorld({});
  const client = await cloned(here);
  await client.run(['tag', 'light'], { at: 'work' });
  await client.run(['tag', '-m', 'said', 'heavy'], { at: 'work' });
  await client.run(['tag', 'tree', 'HEAD^{tree}'], { at: 'work' });
  await push(client, 'light', 'heavy');
  await push(client, 'tree');
  await push(client, ':light');
  assert.deepEqual((await shortly(here, here.project.id)).slice(1), [
    ['created', 'tag', 'light', 1, 'Change a file'],
    ['created', 'tag', 'heavy', 1, 'Change a file'],
    ['created', 'tag', 'tree', 0, null],
    ['removed', 'tag', 'light', 0, null],
  ]);
});

test('a push of many branches is recorded as one event, above the configured limit', async (t) => {
  const here = await filledWorld({});
  t.after(() => here.db.updateTable('application_settings').set({ push_event_activities_limit: 3 }).execute());
  const client = await cloned(here);
  await push(client, 'HEAD:a', 'HEAD:b', 'HEAD:c', 'HEAD:refs/tags/t');
  assert.deepEqual(
    (await shortly(here, here.project.id)).slice(1).map(([, , ref]) => ref),
    ['a', 'b', 'c', 't'],
  );
  await push(client, ':a', ':b', ':c', ':refs/tags/t');
  await push(client, 'HEAD:1', 'HEAD:2', 'HEAD:3', 'HEAD:4', 'HEAD:refs/tags/t');
  const [many, tag] = (await pushes(here, here.project.id)).slice(-2);
  const nothing = { commit_count: 0, commit_from: null, commit_to: null, commit_title: null, ref: null };
  assert.deepEqual(many, {
    author_id: here.people.maintainer.id,
    action: 'created',
    ref_type: 'branch',
    ...nothing,
    ref_count: 4,
  });
  assert.equal(tag!.ref, 't');

  assert.equal((await here.as('admin').put('/application/settings', { push_event_activities_limit: -1 })).status, 400);
  assert.equal((await here.as('admin').put('/application/settings', { push_event_activities_limit: 1 })).status, 200);
  await push(client, ':1', ':2');
  assert.equal((await pushes(here, here.project.id)).at(-1)!.ref_count, 2);
});

test('moving a branch or tag through the API is recorded as a push', async () => {
  const here = await filledWorld({});
  const { id } = here.project;
  const url = `/projects/${id}/repository`;
  const root = await headOf(here);
  await here.as('developer').post(`${url}/branches`, { branch: 'side', ref: 'main' });
  await here
    .as('developer')
    .put(fileUrl(here.project, 'README.md'), { branch: 'side', commit_message: 'By file', content: 'x\n' });
  const side = await headOf(here, 'side');
  const picked = await here.as('maintainer').post(`${url}/commits/${side}/cherry_pick`, { branch: 'main' });
  assert.equal(picked.status, 201, JSON.stringify(picked.body));
  await here.as('maintainer').post(`${url}/commits/${picked.body.id}/revert`, { branch: 'main' });
  const actions = [{ action: 'create', file_path: 'new', content: 'x' }];
  await here
    .as('developer')
    .post(`${url}/commits`, { branch: 'other', start_branch: 'main', commit_message: 'By commit', actions });
  await here.as('maintainer').post(`${url}/tags`, { tag_name: 'v1', ref: 'main' });
  await here.as('maintainer').delete(`${url}/tags/v1`);
  await here.as('maintainer').delete(`${url}/branches/other`);
  await here.as('maintainer').post(`${url}/branches`, { branch: 'merged', ref: root! });
  await here.as('maintainer').delete(`${url}/merged_branches`);
  assert.deepEqual((await shortly(here, id)).slice(1), [
    ['created', 'branch', 'side', 0, null],
    ['pushed', 'branch', 'side', 1, 'By file'],
    ['pushed', 'branch', 'main', 1, 'By file'],
    ['pushed', 'branch', 'main', 1, 'Revert "By file"'],
    ['created', 'branch', 'other', 1, 'By commit'],
    ['created', 'tag', 'v1', 1, 'Revert "By file"'],
    ['removed', 'tag', 'v1', 0, null],
    ['removed', 'branch', 'other', 0, null],
    ['created', 'branch', 'merged', 0, null],
    ['removed', 'branch', 'merged', 0, null],
  ]);
  const authors = (await pushes(here, id)).map(({ author_id }) => author_id);
  assert.deepEqual(new Set(authors), new Set([here.people.developer.id, here.people.maintainer.id]));
  const last = (await pushes(here, id)).length;
  assert.equal(
    (await here.as('developer').put(fileUrl(here.project, 'none'), { ...onMain, content: 'x' })).status,
    400,
  );
  assert.equal((await pushes(here, id)).length, last);
});

test('a project initialised with a file has a creation and a push event', async () => {
  const here = await world({});
  const { id } = (await here.as('owner').post('/projects', { name: 'begun', initialize_with_readme: true })).body;
  assert.deepEqual(await shortly(here, id), [['created', 'branch', 'main', 1, 'Initial commit']]);
  const rows = await here.db.selectFrom('events').select('action').where('project_id', '=', id).orderBy('id').execute();
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'pushed'],
  );
});

test('a push interrupted by a crash is recorded once, when it is settled', async () => {
  const here = await filledWorld({});
  const project = { id: here.project.id, storage: 'default', default_branch: 'main' };
  const head = (await headOf(here))!;
  const update = { ref: 'refs/heads/late', old: null, new: head };
  await announceUpdates(here.db, { kind: projectRepositories, owner: project, user_id: here.people.developer.id }, [
    update,
  ]);
  await updateRefs(repositoryIn(here), [update]);
  const before = await shortly(here, here.project.id);
  await settleReferenceUpdates(here.services);
  await settleReferenceUpdates(here.services);
  assert.deepEqual((await shortly(here, here.project.id)).slice(before.length), [
    ['created', 'branch', 'late', 0, null],
  ]);
});

test('a push to a wiki that a crash interrupts is recorded once, when it is settled', async () => {
  const here = await world({});
  const base = `/projects/${here.project.id}/wikis`;
  assert.equal((await here.as('developer').post(base, { title: 'Home', content: 'Apples' })).status, 201);
  const { id } = await here.db
    .selectFrom('wikis')
    .select('id')
    .where('project_id', '=', here.project.id)
    .executeTakeFirstOrThrow();
  const wiki = (await wikiRepositories.find(here.db, id))!;
  const repository = repositoryOf(here.services, { ...wiki, folder: wikiRepositories.folder });
  const old = (await resolveBranch(repository, 'main'))!;
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date() };
  const changes = [{ op: 'put', path: 'Next.md', mode: '100644', content: Buffer.from('Pears') }] as const;
  const commit = { parent: old, message: 'Next', author: person, committer: person, changes };
  const update = { ref: 'refs/heads/main', old, new: (await writeCommit(repository, commit)).id };
  await announceUpdates(here.db, { kind: wikiRepositories, owner: wiki, user_id: here.people.developer.id }, [update]);
  await updateRefs(repository, [update]);
  for (let start = 0; start < 2; start++) await settleReferenceUpdates(here.services);
  const { body } = await here.as('guest').get(`/projects/${here.project.id}/events`, { target_type: 'wiki' });
  assert.deepEqual(
    body.map((event: Record<string, unknown>) => [event.action_name, event.target_title]),
    [
      ['created', 'Next'],
      ['created', 'Home'],
    ],
  );
});
