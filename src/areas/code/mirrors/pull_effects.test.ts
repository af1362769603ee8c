import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { commitTo, mirrorPlace, type OtherProject, otherProject, refsOf } from '../../../../test/support/mirrors.ts';
import { addPolicyProject, approvalPolicy, pushPolicies } from '../../../../test/support/policies.ts';
import { sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { fileUrl, repositoryIn } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { git, repositoryOf } from '../../../git/index.ts';
import { startForPush } from '../../ci/running/index.ts';
import { followMergeRequests } from '../../work/merge_requests/index.ts';
import { pullMirror, schedulePulls } from './index.ts';

const sourceOf = ({ url, project, people }: World) =>
  `${url.replace('//', `//git:${people.owner.token}@`)}/${project.full_path}.git`;

/** Another project that follows the world's, and how it is pulled. */
async function follower(here: World, name: string): Promise<OtherProject & { pull(): Promise<string | null> }> {
  const copy = await otherProject(here, name);
  const at = `/projects/${copy.id}/mirror/pull`;
  const set = await here.as('owner').put(at, { enabled: true, url: sourceOf(here) });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const pull = async () => {
    await here.as('owner').post(at);
    await performQueued(here.services, [pullMirror]);
    return (await here.as('owner').get(at)).body.last_error;
  };
  assert.equal(await pull(), null);
  return { ...copy, pull };
}

test('pulled changes trigger webhooks and update merge requests, as the user of the mirror', async (t) => {
  const here = await mirrorPlace();
  const { as, project, people } = here;
  await commitTo(here, project.id, 'side', 'a.txt');
  const copy = await follower(here, 'effects');
  const receiver = await startReceiver();
  t.after(receiver.stop);
  await as('owner').post(`/projects/${copy.id}/hooks`, { url: receiver.url, push_events: true });
  const change = { source_branch: 'side', target_branch: 'main', title: 'Merge' };
  const made = await as('owner').post(`/projects/${copy.id}/merge_requests`, change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const head = await commitTo(here, project.id, 'side', 'b.txt');
  assert.equal(await copy.pull(), null);
  await performQueued(here.services, [followMergeRequests]);
  const shown = await as('owner').get(`/projects/${copy.id}/merge_requests/${made.body.iid}`);
  assert.equal(shown.body.sha, head);
  await sendHooks(here);
  const [push] = receiver.take();
  assert.deepEqual(
    [push!.body.object_kind, push!.body.ref, push!.body.after, push!.body.user_id],
    ['push', 'refs/heads/side', head, people.owner.id],
  );
});

test('what is pulled starts pipelines if the mirror is set so, as its user', async () => {
  const here = await mirrorPlace();
  const { as, project, people, services } = here;
  const copy = await follower(here, 'built');
  const commit = async (content: string, action: string) => {
    const actions = [{ action, file_path: '.gitlab-ci.yml', content }];
    const values = { branch: 'main', commit_message: 'Build', actions };
    assert.equal((await as('owner').post(`/projects/${project.id}/repository/commits`, values)).status, 201);
  };
  const pipelines = async () => {
    await performQueued(services, [startForPush]);
    return (await as('owner').get(`/projects/${copy.id}/pipelines`)).body as { id: number; ref: string }[];
  };
  await commit('build: {script: make}', 'create');
  assert.equal(await copy.pull(), null);
  assert.deepEqual(await pipelines(), []);
  await as('owner').put(`/projects/${copy.id}/mirror/pull`, { mirror_trigger_builds: true });
  await commit('build: {script: make all}', 'update');
  assert.equal(await copy.pull(), null);
  const [made, ...others] = await pipelines();
  assert.deepEqual([made!.ref, others], ['main', []]);
  const { body } = await as('owner').get(`/projects/${copy.id}/pipelines/${made!.id}`);
  assert.deepEqual([body.source, body.user.id], ['push', people.owner.id]);
});

/** A commit whose tree has a file named `.git`, which git's own commands do not make. */
async function plantEvil(here: World): Promise<void> {
  const repository = repositoryIn(here);
  const hash = async (type: string, input: Buffer | string) => {
    const options = ['-w', '--stdin', '--literally'] as const;
    return (await git(repository, `hash-object -t ${type}`, options, [], [], { input })).toString().trim();
  };
  const blob = await hash('blob', 'x');
  const tree = await hash('tree', Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]));
  const commit = await hash('commit', `tree ${tree}\nauthor A <a@b.c> 0 +0000\ncommitter A <a@b.c> 0 +0000\n\nx\n`);
  await git(repository, 'update-ref', [], ['refs/heads/evil', commit]);
}

test('forbidden objects and too much data change nothing and leave nothing behind', async () => {
  const here = await mirrorPlace();
  const { as, project, services } = here;
  const copy = await follower(here, 'hostile');
  const before = await refsOf(here, copy.id);
  const repository = repositoryOf(services, { id: copy.id, storage: 'default' });
  const packs = () => readdir(path.join(repository.path, 'objects/pack'));
  const packsBefore = await packs();
  await plantEvil(here);
  assert.match((await copy.pull())!, /hasDotgit|contains '\.git'/);
  await git(repositoryIn(here), 'update-ref', ['-d'], ['refs/heads/evil']);

  await as('admin').put('/application/settings', { bulk_import_max_download_file_size: 1 });
  const content = randomBytes(2_000_000).toString('base64');
  await as('owner').post(fileUrl(project, 'large.bin'), {
    ...{ branch: 'main', commit_message: 'Add', content, encoding: 'base64' },
  });
  assert.equal(await copy.pull(), 'The response is longer than 1048576 bytes.');
  assert.deepEqual([await refsOf(here, copy.id), await packs()], [before, packsBefore]);
  const beside = await readdir(path.dirname(repository.path));
  assert.deepEqual(
    beside.filter((name) => name.startsWith('.incoming')),
    [],
  );
  await as('admin').put('/application/settings', { bulk_import_max_download_file_size: 5120 });
  assert.equal(await copy.pull(), null);
  assert.deepEqual(await refsOf(here, copy.id), await refsOf(here, project.id));
});

test('due mirrors are scheduled while there is capacity', async () => {
  const here = await mirrorPlace();
  const { as, services } = here;
  const { db } = services;
  const copies = [await follower(here, 'one'), await follower(here, 'two'), await follower(here, 'three')];
  const ids = copies.map(({ id }) => id);
  const statuses = async () => {
    const rows = await db.selectFrom('pull_mirrors').select('update_status').where('project_id', 'in', ids).execute();
    return rows.map(({ update_status }) => update_status).toSorted();
  };
  const past = new Date(0).toISOString();
  await db.updateTable('pull_mirrors').set({ next_update_at: null }).execute();
  await db.updateTable('pull_mirrors').set({ next_update_at: past }).where('project_id', 'in', ids).execute();
  await as('admin').put('/application/settings', { mirror_max_capacity: 2, mirror_capacity_threshold: 1 });
  await performJob(services, schedulePulls);
  assert.deepEqual(await statuses(), ['finished', 'scheduled', 'scheduled']);
  await performJob(services, schedulePulls);
  assert.deepEqual(await statuses(), ['finished', 'scheduled', 'scheduled']);
  await performQueued(services, [pullMirror]);
  await performJob(services, schedulePulls);
  assert.deepEqual(await statuses(), ['finished', 'finished', 'scheduled']);
  await performQueued(services, [pullMirror]);
  await performJob(services, schedulePulls);
  assert.deepEqual(await statuses(), ['finished', 'finished', 'finished']);
  await as('admin').put('/application/settings', { mirror_max_capacity: 100, mirror_capacity_threshold: 50 });
});

test('a mirror leaves branches alone that change by merge requests only', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const copy = await follower(here, 'kept');
  await as('owner').post(`/projects/${copy.id}/protected_branches`, { name: 'main' });
  const policies = await addPolicyProject(here);
  const link = `/projects/${copy.id}/security_policy_project`;
  assert.equal((await as('owner').put(link, { project_id: policies.id })).status, 200);
  const settings = '    approval_settings: { prevent_pushing_and_force_pushing: true }\n';
  await pushPolicies(here, policies, approvalPolicy() + settings);
  const before = (await refsOf(here, copy.id)).main;
  await commitTo(here, project.id, 'main', 'unread.txt');
  const side = await commitTo(here, project.id, 'free', 'c.txt');
  assert.match((await copy.pull())!, /change by merge requests only, .*\n\nrefs\/heads\/main$/s);
  const refs = await refsOf(here, copy.id);
  assert.deepEqual([refs.main, refs.free], [before, side]);
});
