import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { gitClient } from '../../../../test/support/git.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

/** A world with a second, private project, of which a Maintainer of the first one is a Developer. */
async function twoProjects(options?: Parameters<typeof built>[1]) {
  const here = await built('build: {script: make}', options);
  const { as, people, project } = here;
  const made = { name: `Sender ${project.id}`, path: `sender-${project.id}`, initialize_with_readme: true };
  const other = await sent(as('owner').post('/projects', made));
  const at = `/projects/${other.id}`;
  await sent(as('owner').post(`${at}/members`, { user_id: people.maintainer.id, access_level: 30 }));
  assert.equal((await as('owner').delete(`${at}/protected_branches/main`)).status, 204);
  const file = { branch: 'main', content: 'build: {script: make}', commit_message: 'Build' };
  await sent(as('owner').post(`${at}/repository/files/.gitlab-ci.yml`, file));
  return { ...here, other, otherAt: at, scope: `${at}/job_token_scope` };
}

/** A job of the first project, which the Maintainer runs. */
async function running(here: Awaited<ReturnType<typeof twoProjects>>) {
  await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  const asJob = (method: string, path: string, body?: object) =>
    runner.call(method, path, { headers: build.authorized, ...(body && { body }) });
  return { build, asJob, runner };
}

const cloneOf = async ({ url, other }: Awaited<ReturnType<typeof twoProjects>>, token: string) => {
  const { run } = await gitClient();
  const address = url.replace('://', `://gitlab-ci-token:${token}@`);
  return run(['ls-remote', `${address}/${other.path_with_namespace}.git`]);
};

test('the lists of a project are kept by its Maintainers', async () => {
  const { as, scope, other, project, group } = await twoProjects();
  const owner = as('owner');
  assert.deepEqual((await owner.get(scope)).body, { inbound_enabled: true, outbound_enabled: false });
  const added = await owner.post(`${scope}/allowlist`, { target_project_id: project.id });
  assert.deepEqual([added.status, added.body], [201, { source_project_id: other.id, target_project_id: project.id }]);
  for (const target_project_id of [project.id, other.id]) {
    const { status, body } = await owner.post(`${scope}/allowlist`, { target_project_id });
    assert.deepEqual([status, body.message], [400, 'This project is already in the job token allowlist.']);
  }
  const names = async (list: string) =>
    (await owner.get(`${scope}/${list}`)).body.map(({ id }: { id: number }) => id).toSorted();
  assert.deepEqual(await names('allowlist'), [project.id, other.id].toSorted());
  const grouped = await owner.post(`${scope}/groups_allowlist`, { target_group_id: group.id });
  assert.deepEqual([grouped.status, grouped.body], [201, { source_project_id: other.id, target_group_id: group.id }]);
  assert.equal((await owner.post(`${scope}/groups_allowlist`, { target_group_id: group.id })).status, 400);
  assert.deepEqual(await names('groups_allowlist'), [group.id]);
  assert.equal((await owner.delete(`${scope}/allowlist/${project.id}`)).status, 204);
  assert.equal((await owner.delete(`${scope}/allowlist/${project.id}`)).status, 404);
  assert.equal((await owner.delete(`${scope}/groups_allowlist/${group.id}`)).status, 204);
  assert.equal((await owner.delete(`${scope}/groups_allowlist/${group.id}`)).status, 404);
  assert.equal((await owner.patch(scope, { enabled: false })).status, 204);
  assert.equal((await owner.get(`/projects/${other.id}`)).body.ci_inbound_job_token_scope_enabled, false);
  assert.equal((await as('maintainer').get(scope)).status, 403);
  assert.equal((await as('outsider').get(scope)).status, 404);
});

test('projects and groups that the caller does not see can be neither added nor listed', async () => {
  const { as, scope, db, other } = await twoProjects();
  const hidden = await sent(as('outsider').post('/projects', { name: `Hidden ${other.id}` }));
  const refused = await as('owner').post(`${scope}/allowlist`, { target_project_id: hidden.id });
  assert.deepEqual([refused.status, refused.body.message], [404, '404 Project Not Found']);
  await db.insertInto('job_token_projects').values({ project_id: other.id, allowed_id: hidden.id }).execute();
  const listed = (await as('owner').get(`${scope}/allowlist`)).body;
  assert.deepEqual(
    listed.map(({ id }: { id: number }) => id),
    [other.id],
  );
  assert.equal((await as('outsider').delete(`/projects/${hidden.id}`)).status, 202);
  await sql`delete from projects where id = ${hidden.id}`.execute(db);
  const { rows } = await sql`select from job_token_projects where project_id = ${other.id}`.execute(db);
  assert.equal(rows.length, 0);
});

test('a list has at most 200 entries', async () => {
  const { as, db, scope, other, project } = await twoProjects({});
  await sql`
    insert into projects (name, path, full_path, namespace_id, creator_id, default_branch)
    select 'n' || turn, 'n' || turn, (select full_path from projects where id = ${other.id}) || turn, namespace_id, creator_id, 'main'
      from projects, generate_series(1, 200) turn where projects.id = ${other.id}`.execute(db);
  await sql`
    insert into job_token_projects (project_id, allowed_id)
    select ${other.id}, id from projects where id > ${other.id} order by id limit 200`.execute(db);
  const { status, body } = await as('owner').post(`${scope}/allowlist`, { target_project_id: project.id });
  assert.deepEqual([status, body.message], [400, 'The job token allowlist can have at most 200 entries of a kind.']);
});

test('a job gets into another project only while that lets it', async () => {
  const here = await twoProjects();
  const { as, otherAt, scope, project, group } = here;
  const { build, asJob } = await running(here);
  const environments = async () => (await asJob('GET', `${otherAt}/environments`)).status;
  const clones = async () => (await cloneOf(here, build.token)).code;
  const isIn = async () => [await environments(), await clones()];
  assert.deepEqual(await isIn(), [404, 128]);
  await sent(as('owner').post(`${scope}/allowlist`, { target_project_id: project.id }));
  assert.deepEqual(await isIn(), [200, 0]);
  assert.equal((await asJob('POST', `${otherAt}/releases`, { tag_name: 'v1', ref: 'main' })).status, 201);
  assert.equal((await asJob('GET', `${otherAt}/secure_files`)).status, 403);
  assert.equal((await asJob('GET', otherAt)).status, 403);
  assert.equal((await as('owner').delete(`${scope}/allowlist/${project.id}`)).status, 204);
  assert.deepEqual(await isIn(), [404, 128]);
  await sent(as('owner').post(`${scope}/groups_allowlist`, { target_group_id: group.id }));
  assert.deepEqual(await isIn(), [200, 0]);
  await as('owner').delete(`${scope}/groups_allowlist/${group.id}`);
  assert.deepEqual(await isIn(), [404, 128]);
  await as('owner').patch(scope, { enabled: false });
  assert.deepEqual(await isIn(), [200, 0]);
  const { people } = here;
  await as('owner').delete(`${otherAt}/members/${people.maintainer.id}`);
  assert.deepEqual(await isIn(), [404, 128]);
});

test('a job in another project sees no refs of its pipelines', async () => {
  const here = await twoProjects();
  const { as, otherAt, scope, project } = here;
  await sent(as('owner').post(`${scope}/allowlist`, { target_project_id: project.id }));
  const { build } = await running(here);
  const { id } = await sent(as('owner').post(`${otherAt}/pipeline`, { ref: 'main' }));
  const { run } = await gitClient();
  await run(['init', '-q']);
  const address = here.url.replace('://', `://gitlab-ci-token:${build.token}@`);
  const fetched = await run([
    'fetch',
    '-q',
    `${address}/${here.other.path_with_namespace}.git`,
    `refs/pipelines/${id}`,
  ]);
  assert.match(fetched.stderr, /couldn't find remote ref/);
});

test('a job starts pipelines of a project that lets it in', async () => {
  const here = await twoProjects();
  const { as, otherAt, scope, project, url } = here;
  const { build } = await running(here);
  const start = async (token = build.token) => {
    const reply = await fetch(`${url}/api/v4${otherAt}/trigger/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ref: 'main', variables: { DEPTH: '3' } }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  assert.deepEqual(await start(), { status: 404, body: { message: '404 Not found' } });
  await as('owner').put(otherAt, { visibility: 'public' });
  assert.deepEqual(await start(), { status: 403, body: { message: '403 Forbidden' } });
  await sent(as('owner').post(`${scope}/allowlist`, { target_project_id: project.id }));
  const { status, body } = await start();
  assert.deepEqual(
    [status, body.source, (body.user as { id: number }).id],
    [201, 'pipeline', here.people.maintainer.id],
  );
  const variables = (await as('owner').get(`${otherAt}/pipelines/${body.id}/variables`)).body;
  assert.deepEqual(variables.map(({ key }: { key: string }) => key).toSorted(), ['CI_TRIGGER_PAYLOAD', 'DEPTH']);
  assert.equal((await start(`${build.token}x`)).status, 404);
  await build.end('success');
  assert.equal((await start()).status, 404);
});

test('a job pushes to its project while that is allowed, and starts nothing by it', async () => {
  const here = await twoProjects();
  const { as, at, url, project, sha, finishJobs, other } = here;
  const { build } = await running(here);
  const { run } = await gitClient();
  const base = url.replace('://', `://gitlab-ci-token:${build.token}@`);
  const address = `${base}/${project.full_path}.git`;
  await run(['init', '-q']);
  await run(['fetch', '-q', address, 'main']);
  const push = (branch: string, to = address) => run(['push', '-q', to, `${sha}:refs/heads/${branch}`]);
  assert.match((await push('mine')).stderr, /not allowed to upload code/);
  await sent(as('maintainer').put(at, { ci_push_repository_for_job_token_allowed: true }));
  assert.equal((await push('mine')).code, 0);
  // A job is a Developer, who may not move main.
  const moved = await run(['push', '-q', '-f', address, `${sha}~1:refs/heads/main`]);
  assert.match(moved.stderr, /protected branch/);
  await finishJobs();
  const pipelines = (await as('developer').get(`${at}/pipelines`, { ref: 'mine' })).body;
  assert.deepEqual(
    pipelines.map(({ status }: { status: string }) => status),
    ['skipped'],
  );
  const elsewhere = `${base}/${other.path_with_namespace}.git`;
  await as('owner').patch(here.scope, { enabled: false });
  await sent(as('owner').put(here.otherAt, { ci_push_repository_for_job_token_allowed: true }));
  assert.match((await push('mine', elsewhere)).stderr, /not allowed to upload code/);
});

test('lists go with the groups on them', async () => {
  const { as, db, project } = await world();
  const { id } = await sent(as('owner').post('/groups', { name: `G ${project.id}`, path: `g-${project.id}` }));
  const scope = `/projects/${project.id}/job_token_scope`;
  await sent(as('owner').post(`${scope}/groups_allowlist`, { target_group_id: id }));
  await sql`delete from namespaces where id = ${id}`.execute(db);
  assert.deepEqual((await as('maintainer').get(`${scope}/groups_allowlist`)).body, []);
});
