import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { addIssue } from '../../../../test/support/issues.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { sshFor, withKey } from '../../../../test/support/ssh.ts';
import type { World } from '../../../../test/support/world.ts';
import { git } from '../../../git/index.ts';
import { removeProject } from '../../spaces/projects/index.ts';
import {
  closeForeignOnes,
  closeOrphans,
  followMergeRequests,
  prepareMergeRequest,
  removeMergeRequestRefs,
} from './index.ts';

const jobs = [prepareMergeRequest, followMergeRequests];
const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

const refsOf = async (here: World) =>
  (await git(repositoryIn(here), 'for-each-ref', ['--format=%(refname)'], ['refs/merge-requests/']))
    .toString()
    .split('\n')
    .slice(0, -1);

test('the refs of a merge request can be fetched over HTTP and SSH, and are deleted with it', async () => {
  const here = await worldWithTopic();
  const { as, people, project, services } = here;
  await addMergeRequest(here);
  await performQueued(services, jobs);
  const merge = (await as('reporter').get(`${urlOf(here)}/merge_ref`)).body.commit_id;
  const head = await headOf(here, 'topic');
  const { run } = await gitClient();
  await run(['init', '-q', 'work']);
  const ssh = await sshFor(here);
  const { file } = await ssh.keyOf('reporter');
  const ways: [string, string[]][] = [
    [remoteOf(here.url, project.full_path, people.reporter.token), []],
    [ssh.remote(), withKey(file)],
  ];
  const fetch = (remote: string, options: string[], ref: string) =>
    run([...options, 'fetch', '-q', remote, `refs/merge-requests/${ref}`], { at: 'work' });
  for (const [remote, options] of ways)
    for (const [ref, id] of [
      ['1/head', head],
      ['1/merge', merge],
    ] as const) {
      assert.deepEqual(await fetch(remote, options, ref), { code: 0, stdout: '', stderr: '' });
      assert.equal((await run(['rev-parse', 'FETCH_HEAD'], { at: 'work' })).stdout.trim(), id);
    }
  assert.equal((await as('owner').delete(urlOf(here))).status, 204);
  await performQueued(services, [removeMergeRequestRefs]);
  assert.deepEqual(await refsOf(here), []);
  for (const [remote, options] of ways)
    assert.match((await fetch(remote, options, '1/head')).stderr, /couldn't find remote ref/);
});

test('if quick actions reopen two merge requests with the same branches concurrently, one is opened and the other refused', async () => {
  const here = await worldWithTopic();
  const { as } = here;
  for (const iid of [1, 2]) {
    await addMergeRequest(here);
    await as('developer').put(urlOf(here, iid), { state_event: 'close' });
  }
  const answers = await Promise.all(
    [1, 2].map((iid) => as('developer').post(`${urlOf(here, iid)}/notes`, { body: '/reopen' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted(),
    [202, 400],
    'of comments that are nothing but a command',
  );
  const states = await Promise.all([1, 2].map(async (iid) => (await as('developer').get(urlOf(here, iid))).body.state));
  assert.deepEqual(states.toSorted(), ['closed', 'opened']);
});

test('removing a member with unassign_issuables unassigns them from issues and merge requests there, and nowhere else', async () => {
  const here = await worldWithTopic();
  const { as, people, project, group } = here;
  const chosen = { assignee_ids: [people.reporter.id], reviewer_ids: [people.reporter.id, people.maintainer.id] };
  const elsewhere = (await as('owner').post('/projects', { name: 'elsewhere', initialize_with_readme: true })).body;
  await as('owner').post(`/projects/${elsewhere.id}/members`, { user_id: people.reporter.id, access_level: 20 });
  await addBranch(here, 'topic', elsewhere, 'owner');
  await addMergeRequest(here, chosen);
  const issue = await addIssue(here, { assignee_ids: [people.reporter.id] });
  const other = { title: 'Other', source_branch: 'topic', target_branch: 'main', ...chosen };
  assert.equal((await as('owner').post(`/projects/${elsewhere.id}/merge_requests`, other)).status, 201);
  const people_of = async (url: string) => {
    const { assignees, reviewers = [] } = (await as('owner').get(url)).body;
    return [assignees, reviewers].map((users: { id: number }[]) => users.map(({ id }) => id));
  };
  const urls = [
    urlOf(here),
    `/projects/${project.id}/issues/${issue.iid}`,
    `/projects/${elsewhere.id}/merge_requests/1`,
  ];
  const member = `/groups/${group.id}/members/${people.reporter.id}`;
  assert.equal((await as('maintainer').delete(`${member}?unassign_issuables=true`)).status, 403);
  const { reporter, maintainer } = people;
  assert.deepEqual(await people_of(urls[0]!), [[reporter.id], [reporter.id, maintainer.id]]);
  assert.equal((await as('owner').delete(`${member}?unassign_issuables=true`)).status, 204);
  assert.deepEqual(await Promise.all(urls.map(people_of)), [
    [[], [maintainer.id]],
    [[], []],
    [[reporter.id], [reporter.id]],
  ]);
});

test('a merge request outlives its fork, and can neither be merged nor changed in an archived project', async () => {
  const here = await worldWithTopic();
  const { as, project, services } = here;
  const fork = await addFork(here, 'developer');
  await addBranch(here, 'beans', fork, 'developer');
  const asked = { title: 'Beans', source_branch: 'beans', target_branch: 'main', target_project_id: project.id };
  assert.equal((await as('developer').post(`/projects/${fork.id}/merge_requests`, asked)).status, 201);
  await performQueued(services, jobs);
  assert.equal((await as('owner').post(`/projects/${project.id}/archive`)).status, 201);
  const own = await as('developer').put(urlOf(here), { title: 'Peas' });
  assert.equal(own.status, 403);
  for (const [method, path, more] of [
    ['put', '/merge', {}],
    ['put', '/rebase', {}],
    ['post', '/notes', { body: 'x' }],
    ['post', '/context_commits', { commits: [await headOf(here)] }],
  ] as const)
    assert.equal((await as('owner')[method](`${urlOf(here)}${path}`, more)).status, 403, path);
  const again = await as('developer').post(`/projects/${fork.id}/merge_requests`, { ...asked, source_branch: 'main' });
  assert.equal(again.status, 403);
  const more = { ...onMain, branch: 'beans', content: 'more\n' };
  assert.equal((await as('developer').post(fileUrl(fork, 'more.txt'), more)).status, 201, 'the fork goes on');
  await performQueued(services, jobs);
  assert.equal((await as('owner').post(`/projects/${project.id}/unarchive`)).status, 201);
  const { sha, title, state } = (await as('reporter').get(urlOf(here))).body;
  assert.deepEqual([title, state], ['Beans', 'opened']);

  await as('developer').delete(`/projects/${fork.id}`);
  await as('developer').delete(`/projects/${fork.id}`, {
    permanently_remove: true,
    full_path: await pathOf(here, fork.id),
  });
  await performQueued(services, [removeProject, ...jobs]);
  const orphan = (await as('reporter').get(urlOf(here), { include_diverged_commits_count: true })).body;
  assert.deepEqual(
    [orphan.source_project_id, orphan.sha, orphan.detailed_merge_status, orphan.diverged_commits_count],
    [null, sha, 'commits_status', 0],
  );
  assert.equal((await as('reporter').get(`${urlOf(here)}/diffs`)).body.length, 2);
  assert.deepEqual(
    [
      (await as('maintainer').put(`${urlOf(here)}/merge`)).status,
      (await as('maintainer').put(`${urlOf(here)}/rebase`)).status,
    ],
    [422, 403],
  );
  assert.equal((await as('developer').put(urlOf(here), { state_event: 'close' })).body.state, 'closed');

  const kept = await addMergeRequest(here);
  const moved = (await as('owner').post('/groups', { name: 'new', path: `new-${here.group.id}` })).body;
  assert.equal((await as('owner').put(`/projects/${project.id}/transfer`, { namespace: moved.id })).status, 200);
  const there = (await as('owner').get(urlOf(here, kept.iid))).body;
  assert.deepEqual([there.references.full, there.state], [`${moved.full_path}/${project.path}!${kept.iid}`, 'opened']);
  assert.equal((await as('owner').put(`${urlOf(here, kept.iid)}/merge`)).body.state, 'merged');
});

const pathOf = async ({ db }: World, id: number) =>
  (await db.selectFrom('projects').select('full_path').where('id', '=', id).executeTakeFirst())?.full_path;

test('open merge requests are closed when their fork or the fork relationship is removed; others stay', async () => {
  const here = await worldWithTopic();
  const { as, db, people, project, services } = here;
  const cleaning = [...jobs, removeProject, closeOrphans, closeForeignOnes];
  const forks = [
    await addFork(here, 'developer', project, { name: 'one', path: 'one' }),
    await addFork(here, 'developer', project, { name: 'two', path: 'two' }),
  ];
  const asked = { title: 'Theirs', source_branch: 'topic', target_branch: 'main' };
  for (const fork of forks)
    await as('developer').post(`/projects/${fork.id}/merge_requests`, { ...asked, target_project_id: project.id });
  await addMergeRequest(here);
  await as('developer').post(`/projects/${forks[1]!.id}/merge_requests`, asked);
  await performQueued(services, jobs);
  const states = async () =>
    (await as('reporter').get(`/projects/${project.id}/merge_requests`, { sort: 'asc' })).body.map(
      ({ state }: { state: string }) => state,
    );
  assert.deepEqual(await states(), ['opened', 'opened', 'opened']);

  const [deleted, freed] = forks.map(({ id }) => id);
  await db
    .updateTable('projects')
    .set({ marked_for_deletion_at: new Date().toISOString() })
    .where('id', '=', deleted!)
    .execute();
  await removeProject.enqueue(db, { project_id: deleted! });
  await performQueued(services, cleaning);
  assert.deepEqual(await states(), ['closed', 'opened', 'opened']);
  const gone = (await as('reporter').get(urlOf(here))).body;
  assert.deepEqual([gone.source_project_id, gone.closed_by], [null, null]);
  const [event] = (await as('reporter').get(`${urlOf(here)}/resource_state_events`)).body;
  assert.deepEqual([event.state, event.user], ['closed', null]);

  assert.equal((await as('developer').delete(`/projects/${freed}/fork`)).status, 204);
  await performQueued(services, cleaning);
  assert.deepEqual(await states(), ['closed', 'closed', 'opened']);
  assert.equal((await as('reporter').get(urlOf(here, 2))).body.closed_by.username, people.developer.username);
  assert.equal(
    (await as('developer').get(`/projects/${freed}/merge_requests/1`)).body.state,
    'opened',
    'within the project',
  );
});

test('deleting a project deletes merge requests from forks into it and closes those between forks; the forks stay', async () => {
  const here = await worldWithTopic();
  const { as, db, project, services } = here;
  const fork = await addFork(here, 'developer', project, { path: 'stays' });
  const asked = { title: 'Theirs', source_branch: 'topic', target_branch: 'main', target_project_id: project.id };
  const { id } = (await as('developer').post(`/projects/${fork.id}/merge_requests`, asked)).body;
  const below = await addFork(here, 'developer', fork, { name: 'below', path: 'below' });
  const sibling = await addFork(here, 'developer', project, { name: 'sibling', path: 'sibling' });
  const between = [
    [fork, sibling],
    [below, sibling],
    [below, fork],
  ] as const;
  const made = between.map(([from, to]) =>
    as('developer').post(`/projects/${from.id}/merge_requests`, { ...asked, target_project_id: to.id }),
  );
  for (const { status, body } of await Promise.all(made)) assert.equal(status, 201, JSON.stringify(body));
  await performQueued(services, jobs);
  await db
    .updateTable('projects')
    .set({ marked_for_deletion_at: new Date().toISOString() })
    .where('id', '=', project.id)
    .execute();
  await removeProject.enqueue(db, { project_id: project.id });
  await performQueued(services, [removeProject, closeOrphans]);
  assert.equal((await as('developer').get(`/projects/${project.id}`)).status, 404);
  assert.deepEqual(await db.selectFrom('merge_requests').select('id').where('id', '=', id).execute(), []);
  const listed = await Promise.all(
    [sibling, fork].map((one) => as('developer').get(`/projects/${one.id}/merge_requests`)),
  );
  assert.deepEqual(
    listed.map(({ body }) => body.map(({ state }: { state: string }) => state)),
    [['closed', 'closed'], ['opened']],
    'only a fork of a fork still belongs to it',
  );
  const kept = (await as('developer').get(`/projects/${fork.id}/repository/branches`)).body;
  assert.deepEqual(
    kept.map(({ name }: { name: string }) => name),
    ['main', 'topic'],
  );
  const own = { title: 'Own', source_branch: 'topic', target_branch: 'main' };
  assert.equal((await as('developer').post(`/projects/${fork.id}/merge_requests`, own)).status, 201);
});
