import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';

/** A world with a commit, and the addresses to report on it and to read what was reported. */
async function reported(): Promise<World & { sha: string; report: string; list: string; commit: string }> {
  const here = await filledWorld();
  const sha = (await headOf(here))!;
  const project = `/projects/${here.project.id}`;
  const commit = `${project}/repository/commits/${sha}`;
  return { ...here, sha, report: `${project}/statuses/${sha}`, list: `${commit}/statuses`, commit };
}

test('a service reports its progress, and the commit shows it', async () => {
  const { as, sha, report, list, commit, people } = await reported();
  const begun = await as('developer').post(report, {
    state: 'pending',
    context: 'build',
    target_url: 'https://build.example/1',
    description: 'Waiting',
  });
  assert.equal(begun.status, 201);
  const { id, created_at, author, pipeline_id, ...shown } = begun.body;
  assert.deepEqual(shown, {
    sha,
    ref: 'main',
    status: 'pending',
    name: 'build',
    target_url: 'https://build.example/1',
    description: 'Waiting',
    started_at: null,
    finished_at: null,
    allow_failure: false,
    coverage: null,
  });
  for (const [filter, count] of [
    [{ stage: 'external' }, 1],
    [{ stage: 'test' }, 0],
    [{ pipeline_id }, 1],
    [{ pipeline_id: pipeline_id + 1 }, 0],
  ] as const)
    assert.equal((await as('reporter').get(list, filter)).body.length, count, JSON.stringify(filter));
  assert.equal(author.id, people.developer.id);
  assert.ok(created_at);
  assert.equal((await as('reporter').get(commit)).body.status, 'pending');

  const running = await as('developer').post(report, { state: 'running', name: 'build', description: 'At work' });
  assert.deepEqual([running.body.id, running.body.description, running.body.finished_at], [id, 'At work', null]);
  assert.ok(running.body.started_at);
  assert.equal((await as('reporter').get(commit)).body.status, 'running');

  const done = await as('developer').post(report, { state: 'success', name: 'build', coverage: 87.5 });
  assert.deepEqual([done.body.id, done.body.target_url, done.body.coverage], [id, 'https://build.example/1', 87.5]);
  assert.ok(done.body.finished_at);
  assert.equal((await as('reporter').get(commit)).body.status, 'success');
  assert.deepEqual((await as('reporter').get(list)).body, [done.body]);
});

test('a new status of the same name replaces one that has finished or belongs to another user', async () => {
  const { as, report, list, commit } = await reported();
  const first = (await as('developer').post(report, { state: 'failed' })).body;
  assert.equal(first.name, 'default');
  assert.equal((await as('reporter').get(commit)).body.status, 'failed');
  const second = (await as('developer').post(report, { state: 'running' })).body;
  const third = (await as('maintainer').post(report, { state: 'success' })).body;
  const other = (await as('maintainer').post(report, { state: 'skipped', name: 'docs', ref: 'refs/heads/side' })).body;
  assert.equal(other.ref, 'side');
  const ids = async (parameters: object = {}) =>
    (await as('reporter').get(list, { ...parameters })).body.map(({ id }: { id: number }) => id);
  assert.deepEqual(await ids(), [third.id, other.id]);
  assert.deepEqual(await ids({ all: true }), [first.id, second.id, third.id, other.id]);
  assert.deepEqual(await ids({ sort: 'desc' }), [other.id, third.id]);
  assert.deepEqual(await ids({ ref: 'side' }), [other.id]);
  assert.deepEqual(await ids({ name: 'default', all: true, per_page: 1, page: 2 }), [second.id]);
  // The newest pipeline is that of the other ref.
  assert.equal((await as('reporter').get(commit)).body.status, 'skipped');
});

test('an invalid status or state transition is refused, and nothing changes', async () => {
  const { as, report, list } = await reported();
  await as('developer').post(report, { state: 'running' });
  const before = (await as('reporter').get(list, { all: true })).body;
  const invalid = (field: string, reason: string) => ({ [field]: [reason] });
  const refusals: [object, unknown][] = [
    [{}, 'state is missing'],
    [{ state: 'done' }, 'state does not have a valid value'],
    [
      { state: 'running' },
      'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")',
    ],
    [
      { state: 'pending' },
      'Cannot transition status via :enqueue from :running (Reason(s): Status cannot transition via "enqueue")',
    ],
    [
      { state: 'skipped' },
      'Cannot transition status via :skip from :running (Reason(s): Status cannot transition via "skip")',
    ],
    [
      { state: 'success', target_url: 'javascript:alert(1)' },
      invalid('target_url', 'is blocked: Only allowed schemes are http, https'),
    ],
    [{ state: 'success', target_url: 'nowhere' }, invalid('target_url', 'is blocked: URI is invalid')],
    [
      { state: 'success', description: 'x'.repeat(256) },
      invalid('description', 'is too long (maximum is 255 characters)'),
    ],
    [{ state: 'success', coverage: 'much' }, 'coverage is invalid'],
  ];
  for (const [parameters, message] of refusals) {
    const refused = await as('developer').post(report, { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual((await as('reporter').get(list, { all: true })).body, before);
});

test('concurrent reports of one status create one row', async () => {
  const { as, report, list } = await reported();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => as('developer').post(report, { state: 'pending', name: 'build' })),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 400, 400, 400, 400, 400]);
  assert.equal((await as('reporter').get(list, { all: true })).body.length, 1);
});

test('developers can set statuses of existing commits, and reading them needs access to code', async () => {
  const { as, project, report, list, commit } = await reported();
  for (const [persona, reading, writing] of [
    ['anonymous', 404, 401],
    ['outsider', 404, 404],
    ['guest', 403, 403],
    ['reporter', 200, 403],
  ] as const) {
    assert.equal((await as(persona).get(list)).status, reading, persona);
    assert.equal((await as(persona).post(report, { state: 'success' })).status, writing, persona);
  }
  assert.deepEqual((await as('reporter').get(list)).body, []);
  assert.equal((await as('reporter').get(commit)).body.status, null);
  const absent = 'f'.repeat(40);
  for (const answer of [
    await as('developer').post(`/projects/${project.id}/statuses/${absent}`, { state: 'success' }),
    await as('reporter').get(`/projects/${project.id}/repository/commits/${absent}/statuses`),
  ])
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Commit Not Found' }]);

  // A commit that no branch holds any more.
  await as('developer').post(`/projects/${project.id}/repository/branches`, { branch: 'side', ref: 'main' });
  const file = `/projects/${project.id}/repository/files/x`;
  await as('developer').post(file, { branch: 'side', commit_message: 'x', content: 'x' });
  const { id } = (await as('reporter').get(`/projects/${project.id}/repository/commits/side`)).body;
  await as('developer').delete(`/projects/${project.id}/repository/branches/side`);
  const orphan = await as('developer').post(`/projects/${project.id}/statuses/${id}`, { state: 'success' });
  assert.deepEqual([orphan.status, orphan.body], [404, { message: '404 References for commit Not Found' }]);
  assert.equal(
    (await as('developer').post(`/projects/${project.id}/statuses/${id}`, { state: 'success', ref: 'side' })).status,
    201,
  );
});
