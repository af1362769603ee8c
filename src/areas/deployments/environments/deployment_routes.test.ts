import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';

const receiver = await startReceiver();
after(() => receiver.stop());

const at = ({ project }: World, rest = '') => `/projects/${project.id}/deployments${rest}`;
const ids = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

/** A world with a repository, and the parameters of a deployment of its newest commit. */
async function deployedWorld() {
  const here = await filledWorld({});
  const sha = await headOf(here);
  const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'running' };
  const record = async (fields: Record<string, unknown> = {}) =>
    (await here.as('developer').post(at(here), { ...given, ...fields })).body;
  return { ...here, sha: sha!, given, record };
}

test('a deployment is recorded, succeeds, and becomes the current one of its environment', async () => {
  const here = await deployedWorld();
  const { as, given, sha, people } = here;
  assert.equal((await as('reporter').post(at(here), given)).status, 403);
  const { status, body } = await as('developer').post(at(here), given);
  assert.equal(status, 201);
  const { id, iid, environment, user, created_at, updated_at, ...rest } = body;
  assert.deepEqual([iid, environment.name, user.username], [1, 'production', people.developer.username]);
  assert.deepEqual(rest, {
    ref: 'main',
    sha,
    status: 'running',
    deployable: null,
    finished_at: null,
    during_freeze: false,
    pending_approval_count: 0,
    approvals: [],
    approval_summary: { rules: [] },
  });
  const place = `/projects/${here.project.id}/environments/${environment.id}`;
  assert.equal((await as('reporter').get(place)).body.last_deployment, null);

  const done = await as('developer').put(at(here, `/${id}`), { status: 'success' });
  assert.deepEqual([done.status, done.body.status], [200, 'success']);
  assert.ok(done.body.finished_at);
  assert.equal((await as('reporter').get(place)).body.last_deployment.id, id);
  assert.equal((await as('reporter').get(at(here, `/${id}`))).body.status, 'success');

  for (const [status, event] of [
    ['success', 'succeed'],
    ['running', 'run'],
  ]) {
    const again = await as('developer').put(at(here, `/${id}`), { status });
    assert.deepEqual([again.status, again.body.message], [400, { status: [`cannot transition via "${event}"`] }]);
  }
  assert.equal((await as('reporter').put(at(here, `/${id}`), { status: 'failed' })).status, 403);
  assert.equal((await as('reporter').get(at(here, `/${id}`))).body.status, 'success');
});

test('invalid deployments are refused, and leave neither a deployment nor an environment', async () => {
  const here = await deployedWorld();
  const { as, given, project } = here;
  const refusals: [Record<string, unknown>, unknown][] = [
    [{}, 'environment is missing, sha is missing, ref is missing, tag is missing, status is missing'],
    [{ ...given, status: 'created' }, 'status does not have a valid value'],
    [{ ...given, sha: 'a'.repeat(40) }, { sha: ['The commit does not exist'] }],
    [{ ...given, sha: 'nowhere' }, { sha: ['The commit does not exist'] }],
    [{ ...given, ref: 'gone' }, { ref: ['The branch or tag does not exist'] }],
    [{ ...given, tag: true }, { ref: ['The branch or tag does not exist'] }],
    [{ ...given, environment: ' ' }, { environment: ["can't be blank"] }],
  ];
  for (const [body, message] of refusals) {
    const refused = await as('developer').post(at(here), body);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual((await as('reporter').get(at(here))).body, []);
  assert.deepEqual((await as('reporter').get(`/projects/${project.id}/environments`)).body, []);
});

test('lists are filtered and ordered', async () => {
  const here = await deployedWorld();
  const { as, record, db } = here;
  const first = await record({ status: 'success' });
  const second = await record({ environment: 'staging', status: 'failed' });
  const third = await record();
  const early = '2020-01-01T00:00:00Z';
  await db
    .updateTable('deployments')
    .set({ updated_at: early, finished_at: early })
    .where('id', '=', first.id)
    .execute();
  const cases: [Record<string, unknown>, number[]][] = [
    [{}, [first.id, second.id, third.id]],
    [{ sort: 'desc' }, [third.id, second.id, first.id]],
    [{ order_by: 'iid', sort: 'desc' }, [third.id, second.id, first.id]],
    [{ order_by: 'finished_at' }, [first.id, second.id, third.id]],
    [{ environment: 'staging' }, [second.id]],
    [{ environment: 'moon' }, []],
    [{ status: 'success' }, [first.id]],
    [{ status: 'blocked' }, []],
    [{ updated_before: '2021-01-01' }, [first.id]],
    [{ updated_after: '2021-01-01' }, [second.id, third.id]],
    [{ finished_before: '2021-01-01' }, [first.id]],
    [{ finished_after: '2021-01-01', order_by: 'id' }, [second.id]],
  ];
  for (const [filters, expected] of cases)
    assert.deepEqual(ids(await as('reporter').get(at(here), filters)), expected, JSON.stringify(filters));
  assert.equal((await as('anonymous').get(at(here))).status, 401);
  assert.equal((await as('guest').get(at(here))).status, 403);
});

test('Maintainers delete deployments that are neither running nor current', async () => {
  const here = await deployedWorld();
  const { as, record } = here;
  const old = await record({ status: 'success' });
  const current = await record({ status: 'success' });
  const running = await record();
  const remove = async ({ id }: { id: number }, persona: 'developer' | 'maintainer' = 'maintainer') => {
    const { status, body } = await as(persona).delete(at(here, `/${id}`));
    return [status, body?.message];
  };
  assert.deepEqual(await remove(running), [400, 'Cannot destroy running deployment']);
  assert.deepEqual(await remove(current), [400, 'Deployment currently deployed to environment']);
  assert.equal((await remove(old, 'developer'))[0], 403);
  assert.deepEqual(ids(await as('reporter').get(at(here))), [old.id, current.id, running.id]);
  assert.deepEqual(await remove(old), [204, undefined]);
  assert.deepEqual(ids(await as('reporter').get(at(here))), [current.id, running.id]);
});

test('concurrently recorded deployments share a new environment and have different numbers', async () => {
  const here = await deployedWorld();
  const { as, record } = here;
  const made = await Promise.all([record(), record(), record()]);
  assert.deepEqual(made.map(({ iid }) => iid).sort(), [1, 2, 3]);
  assert.equal(new Set(made.map(({ environment }) => environment.id)).size, 1);
  const url = at(here, `/${made[0].id}`);
  const both = await Promise.all([1, 2].map(() => as('developer').put(url, { status: 'success' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
});

test('webhooks are sent for each status change', async () => {
  const here = await deployedWorld();
  const { as, project, sha, people } = here;
  await allowLocalHooks(here);
  const hook = { url: `${receiver.url}/deployments`, push_events: false, deployment_events: true };
  const { body: stored } = await as('maintainer').post(`/projects/${project.id}/hooks`, hook);
  const { id } = await here.record();
  await as('developer').put(at(here, `/${id}`), { status: 'success' });
  await as('developer').put(at(here, `/${id}`), { status: 'success' });
  await sendHooks(here);
  const told = receiver.take();
  assert.deepEqual(told.map(({ headers, body }) => [headers['x-gitlab-event'], body.status]).sort(), [
    ['Deployment Hook', 'running'],
    ['Deployment Hook', 'success'],
  ]);
  const { project: shown, user, status_changed_at, user_url, commit_url, ...rest } = told[0]!.body;
  assert.deepEqual(
    [shown.id, user.username, typeof status_changed_at],
    [project.id, people.developer.username, 'string'],
  );
  assert.ok(user_url.endsWith(`/${people.developer.username}`));
  assert.ok(commit_url.endsWith(`/${project.full_path}/-/commit/${sha}`));
  assert.deepEqual(
    { ...rest, status: '' },
    {
      object_kind: 'deployment',
      status: '',
      deployment_id: id,
      deployable_id: null,
      deployable_url: null,
      environment: 'production',
      environment_tier: 'production',
      environment_slug: 'production',
      environment_external_url: null,
      short_sha: sha.slice(0, 8),
      commit_title: 'Change a file',
      ref: 'main',
    },
  );
  const tested = await as('maintainer').post(`/projects/${project.id}/hooks/${stored.id}/test/deployment_events`);
  assert.equal(tested.status, 201);
  assert.equal(receiver.take()[0]?.body.status, 'success');
});

test('deployments during a freeze are marked, or refused if the project is configured so', async () => {
  const here = await deployedWorld();
  const { as, project, record, given } = here;
  const failed = await record({ status: 'failed' });
  const begun = await record();
  const until = `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`;
  await as('maintainer').post(`/projects/${project.id}/freeze_periods`, {
    freeze_start: '* * * * *',
    freeze_end: '0 0 1 1 *',
  });
  assert.equal((await record()).during_freeze, true);
  assert.equal((await record({ status: 'failed' })).during_freeze, false);

  const set = await as('maintainer').put(`/projects/${project.id}`, { deployment_freeze: 'refuse' });
  assert.equal(set.body.deployment_freeze, 'refuse');
  const message = `403 Forbidden - The project is in a deploy freeze until ${until}`;
  const count = (await as('reporter').get(at(here))).body.length;
  for (const [persona, override_freeze] of [
    ['developer', false],
    ['developer', true],
    ['maintainer', false],
  ] as const) {
    const refused = await as(persona).post(at(here), { ...given, override_freeze });
    assert.deepEqual([refused.status, refused.body.message], [403, message]);
  }
  assert.equal((await as('reporter').get(at(here))).body.length, count);
  const anew = await as('developer').put(at(here, `/${failed.id}`), { status: 'success' });
  assert.deepEqual([anew.status, anew.body.message], [403, message]);

  const overridden = await as('maintainer').post(at(here), { ...given, override_freeze: true });
  assert.deepEqual([overridden.status, overridden.body.during_freeze], [201, true]);
  const told = await as('maintainer').get(`/projects/${project.id}/audit_events?event_name=freeze_overridden`);
  assert.deepEqual(
    told.body.map(({ author_id, details }: { author_id: number; details: { target_type: string } }) => [
      author_id,
      details.target_type,
    ]),
    [[here.people.maintainer.id, 'Environment']],
  );
  assert.equal((await record({ status: 'canceled' })).status, 'canceled');
  const ended = await as('developer').put(at(here, `/${begun.id}`), { status: 'success' });
  assert.deepEqual([ended.status, ended.body.during_freeze], [200, false]);
});
