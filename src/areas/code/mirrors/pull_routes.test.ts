import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { changePlan } from '../../../../test/support/licenses.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { commitTo, mirrorPlace, otherProject, refsOf } from '../../../../test/support/mirrors.ts';
import { headOf } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { pullMirror, pushMirror, schedulePulls, tellOfMirrorFailure } from './index.ts';

/** Runs the pull mirrors that wait. @returns how many ran */
const pull = async ({ services }: World): Promise<number> => (await performQueued(services, [pullMirror])).length;

const at = (id: number) => `/projects/${id}/mirror/pull`;

/** The address of the world's project, with the login of its owner. */
const sourceOf = ({ url, project, people }: World) =>
  `${url.replace('//', `//git:${people.owner.token}@`)}/${project.full_path}.git`;

test('a project mirrors another: branches, tags and its default branch, with events and webhooks', async () => {
  const here = await mirrorPlace();
  const { as, project, people } = here;
  await as('owner').post(`/projects/${project.id}/repository/branches`, { branch: 'trunk', ref: 'main' });
  await as('owner').put(`/projects/${project.id}`, { default_branch: 'trunk' });
  await as('owner').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  const copy = await otherProject(here, 'copy');
  const none = await as('owner').get(at(copy.id));
  assert.deepEqual([none.status, none.body], [400, { message: 'The project is not mirrored' }]);
  const blank = await as('owner').put(at(copy.id), { enabled: true });
  assert.deepEqual([blank.status, blank.body], [400, { message: { url: ["can't be blank"] } }]);
  const set = await as('owner').put(at(copy.id), { enabled: true, url: sourceOf(here) });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const { id, ...shown } = set.body;
  assert.deepEqual(shown, {
    enabled: true,
    url: sourceOf(here).replace(/\/\/[^@]+@/, '//*****:*****@'),
    update_status: 'scheduled',
    last_error: null,
    last_update_at: null,
    last_update_started_at: null,
    last_successful_update_at: null,
    mirror_trigger_builds: false,
    only_mirror_protected_branches: null,
    mirror_overwrites_diverged_branches: false,
    mirror_branch_regex: null,
    public_key: null,
    host_keys: [],
  });
  assert.ok(id > 0);
  assert.equal(await pull(here), 1);
  const now = (await as('owner').get(at(copy.id))).body;
  assert.deepEqual([now.update_status, now.last_error], ['finished', null]);
  assert.deepEqual(await refsOf(here, copy.id), await refsOf(here, project.id));
  const { body } = await as('owner').get(`/projects/${copy.id}`);
  assert.deepEqual(
    [body.mirror, body.mirror_user_id, body.default_branch, body.empty_repo, body.import_url],
    [true, people.owner.id, 'trunk', false, now.url],
  );
  assert.equal((await as('developer').get(`/projects/${copy.id}`)).body.import_url, undefined);
  const events = await as('owner').get(`/projects/${copy.id}/events`, { action: 'pushed' });
  assert.ok(events.body.length > 0);
  assert.equal(events.body[0].author_id, people.owner.id);

  await as('owner').delete(`/projects/${project.id}/repository/branches/main`);
  const ahead = await commitTo(here, project.id, 'trunk', 'more.txt');
  const own = await commitTo(here, copy.id, 'own', 'own.txt');
  const unchanged = await as('owner').put(at(copy.id), {});
  assert.deepEqual([unchanged.status, unchanged.body.url], [200, now.url]);
  const soon = await as('owner').post(at(copy.id));
  assert.deepEqual([soon.status, soon.body], [200, null]);
  await pull(here);
  const after = await refsOf(here, copy.id);
  assert.deepEqual([after.trunk, after.own], [ahead, own]);
  assert.ok('main' in after);
});

test('a diverged branch is kept and reported, or overwritten; tags never are', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  const copy = await otherProject(here, 'diverging');
  await as('owner').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  await as('owner').put(at(copy.id), { enabled: true, url: sourceOf(here) });
  await pull(here);
  const before = await refsOf(here, copy.id);
  const ours = await commitTo(here, copy.id, 'main', 'ours.txt');
  const theirs = await commitTo(here, project.id, 'main', 'theirs.txt');
  await as('owner').delete(`/projects/${project.id}/repository/tags/v1`);
  await as('owner').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  await as('owner').post(at(copy.id));
  await pull(here);
  const { body } = await as('owner').get(at(copy.id));
  assert.deepEqual(
    [body.update_status, body.last_error],
    ['finished', 'Some refs have diverged and have not been updated:\n\nrefs/heads/main'],
  );
  assert.equal((await refsOf(here, copy.id)).main, ours);
  await as('owner').put(at(copy.id), { mirror_overwrites_diverged_branches: true });
  await as('owner').post(at(copy.id));
  await pull(here);
  const after = await refsOf(here, copy.id);
  assert.deepEqual([after.main, after['tag v1']], [theirs, before['tag v1']]);
});

test('only protected branches, or branches that match an expression, are pulled', async () => {
  const here = await mirrorPlace();
  const { as, project } = here;
  await commitTo(here, project.id, 'release/1', 'a.txt');
  await commitTo(here, project.id, 'other', 'b.txt');
  const [some, named] = [await otherProject(here, 'some'), await otherProject(here, 'named')];
  await as('owner').put(at(named.id), { enabled: true, url: sourceOf(here), mirror_branch_regex: '^release' });
  await as('owner').put(at(some.id), { enabled: true, url: sourceOf(here), only_mirror_protected_branches: true });
  await as('owner').post(`/projects/${some.id}/protected_branches`, { name: 'main' });
  await pull(here);
  assert.deepEqual(Object.keys(await refsOf(here, named.id)), ['release/1']);
  assert.deepEqual(Object.keys(await refsOf(here, some.id)), ['main']);
  const both = await as('owner').put(at(some.id), { only_mirror_protected_branches: true, mirror_branch_regex: 'x' });
  assert.equal(both.status, 400);
});

test('a project is imported once, and then accepts changes', async () => {
  const here = await mirrorPlace();
  const { as, project, group, people, services } = here;
  const made = await as('owner').post('/projects', {
    name: 'imported',
    namespace_id: group.id,
    import_url: sourceOf(here),
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body;
  assert.deepEqual([made.body.import_status, made.body.mirror, made.body.empty_repo], ['scheduled', false, true]);
  assert.equal((await as('owner').post(at(id))).status, 403);
  await pull(here);
  const now = (await as('owner').get(`/projects/${id}`)).body;
  assert.deepEqual([now.import_status, now.import_error, now.empty_repo], ['finished', null, false]);
  assert.deepEqual(await refsOf(here, id), await refsOf(here, project.id));
  await commitTo(here, id, 'main', 'new.txt');
  const { login } = await services.db
    .selectFrom('pull_mirrors')
    .select('login')
    .where('project_id', '=', id)
    .executeTakeFirstOrThrow();
  assert.equal(login, null);

  const broken = sourceOf(here).replace(people.owner.token, 'glpat-wrong');
  const failing = await as('owner').post('/projects', { name: 'failing', namespace_id: group.id, import_url: broken });
  await pull(here);
  const failed = (await as('owner').get(`/projects/${failing.body.id}`)).body;
  assert.deepEqual([failed.import_status, failed.import_error], ['failed', 'Authentication failed.']);
  const bad = await as('owner').post('/projects', { name: 'bad', namespace_id: group.id, import_url: 'ext::sh -c id' });
  assert.deepEqual(bad.body, {
    message: { import_url: ['is blocked: Only allowed schemes are http, https, ssh, git'] },
  });
  const mirrored = await as('owner').post('/projects', {
    ...{ name: 'following', namespace_id: group.id, import_url: sourceOf(here), mirror: true },
    mirror_overwrites_diverged_branches: true,
  });
  assert.deepEqual([mirrored.body.mirror, mirrored.body.mirror_overwrites_diverged_branches], [true, true]);
  await pull(here);
  assert.equal((await as('owner').get(`/projects/${mirrored.body.id}`)).body.import_status, 'finished');
  const off = await as('owner').put(`/projects/${mirrored.body.id}`, { mirror: false });
  assert.deepEqual([off.body.mirror, off.body.mirror_user_id], [false, null]);
  const other = await as('maintainer').put(`/projects/${mirrored.body.id}`, {
    mirror: true,
    mirror_user_id: people.owner.id,
  });
  assert.deepEqual([other.status, other.body], [400, { message: { mirror_user_id: ['is invalid'] } }]);
});

test('a failing mirror is paused in the end, and at once if its user may not push', async () => {
  const here = await mirrorPlace();
  const { as, services, people, project } = here;
  const copy = await otherProject(here, 'pausing');
  const broken = sourceOf(here).replace(people.owner.token, 'glpat-wrong');
  await as('maintainer').put(at(copy.id), { enabled: true, url: broken });
  await pull(here);
  for (let turn = 1; turn < 14; turn++) await performJob(services, pullMirror, { project_id: copy.id });
  const mails = await mailOf(services, [tellOfMirrorFailure]);
  assert.equal(mails.length, 2);
  const paused = await as('maintainer').post(at(copy.id));
  assert.deepEqual(
    [paused.status, paused.body],
    [403, { message: '403 Forbidden - Mirroring for the project is on pause' }],
  );
  await performQueued(services, [schedulePulls, pullMirror]);
  const set = await as('maintainer').put(at(copy.id), { url: sourceOf(here) });
  assert.equal(set.body.update_status, 'scheduled');
  await pull(here);
  assert.deepEqual(await refsOf(here, copy.id), await refsOf(here, project.id));
  await as('owner').put(`/projects/${copy.id}/members/${people.maintainer.id}`, { access_level: 30 });
  await as('owner').put(`/groups/${here.group.id}/members/${people.maintainer.id}`, { access_level: 30 });
  await services.db
    .updateTable('pull_mirrors')
    .set({ next_update_at: new Date(0).toISOString() })
    .where('project_id', '=', copy.id)
    .execute();
  await performJob(services, schedulePulls);
  assert.equal(await pull(here), 1);
  const { body } = await as('owner').get(at(copy.id));
  assert.deepEqual(
    [body.update_status, body.last_error],
    ['failed', 'The user of the mirror may not push to the project any more.'],
  );
  // Whoever turns it on again takes the place of the user who may not push any more.
  const resumed = await as('owner').put(at(copy.id), { enabled: true });
  assert.deepEqual([resumed.status, resumed.body.update_status], [200, 'scheduled']);
  assert.equal((await as('owner').get(`/projects/${copy.id}`)).body.mirror_user_id, people.owner.id);
});

test('pulled changes are pushed to push mirrors, and a cycle of mirrors settles', async () => {
  const here = await mirrorPlace();
  const { as, services, project } = here;
  const second = await otherProject(here, 'second');
  await as('owner').put(at(second.id), { enabled: true, url: sourceOf(here) });
  await as('owner').post(`/projects/${second.id}/remote_mirrors`, { url: sourceOf(here), enabled: true });
  await as('owner').post(`/projects/${project.id}/remote_mirrors`, { url: second.url, enabled: true });
  await performQueued(services, [pullMirror, pushMirror]);
  const ours = await commitTo(here, second.id, 'main', 'ours.txt');
  const ran = await performQueued(services, [pullMirror, pushMirror]);
  assert.ok(ran.length <= 4, ran.join(' '));
  assert.deepEqual(await refsOf(here, project.id), await refsOf(here, second.id));
  assert.equal(await headOf(here), ours);
});

test('without a license a mirror pauses, and resumes when there is one again', async () => {
  const here = await mirrorPlace();
  const { as, services, project } = here;
  const copy = await otherProject(here, 'resting');
  await as('owner').put(at(copy.id), { enabled: true, url: sourceOf(here) });
  await pull(here);
  const before = await refsOf(here, copy.id);
  const theirs = await commitTo(here, project.id, 'main', 'theirs.txt');
  await as('owner').post(at(copy.id));
  await changePlan(here, 'free');
  await pull(here);
  assert.deepEqual(await performQueued(services, [schedulePulls, pullMirror]), []);
  await performJob(services, schedulePulls);
  assert.equal(await pull(here), 0);
  assert.deepEqual(await refsOf(here, copy.id), before);
  assert.equal((await as('owner').get(at(copy.id))).status, 403);

  await changePlan(here, 'premium');
  const rested = (await as('owner').get(at(copy.id))).body;
  assert.deepEqual([rested.update_status, rested.last_error], ['failed', 'Pull mirrors need a license for Premium.']);
  await performJob(services, schedulePulls);
  assert.equal(await pull(here), 1);
  assert.equal((await refsOf(here, copy.id)).main, theirs);
  const now = (await as('owner').get(at(copy.id))).body;
  assert.deepEqual([now.update_status, now.last_error], ['finished', null]);
  await changePlan(here, 'ultimate');
});

test('an import that waits for the other server ends at once when its project is deleted', async (t) => {
  const here = await mirrorPlace();
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, 'listening');
  const import_url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/a.git`;
  const made = await here.as('owner').post('/projects', { name: 'slow', namespace_id: here.group.id, import_url });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const running = pull(here);
  await once(silent, 'request');
  assert.equal((await here.as('owner').delete(`/projects/${made.body.id}`)).status, 202);
  await running;
  const { import_status, import_error } = await here.db
    .selectFrom('projects')
    .select(['import_status', 'import_error'])
    .where('id', '=', made.body.id)
    .executeTakeFirstOrThrow();
  assert.deepEqual([import_status, import_error], ['failed', 'The project or its mirror takes no changes any more.']);
});
