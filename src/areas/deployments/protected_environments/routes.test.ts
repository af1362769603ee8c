import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';

const at = ({ project }: Pick<World, 'project'>, rest = '') => `/projects/${project.id}/protected_environments${rest}`;
const maintainers = { deploy_access_levels: [{ access_level: 40 }] };

/** A world with a repository, and a way to record deployments. */
async function deployable() {
  const here = await filledWorld();
  const sha = await headOf(here);
  const record = (persona: Persona, fields: Record<string, unknown> = {}) =>
    here.as(persona).post(`/projects/${here.project.id}/deployments`, {
      ...{ environment: 'production', sha, ref: 'main', tag: false, status: 'running' },
      ...fields,
    });
  const answer = (persona: Persona, id: number, status = 'approved', more = {}) =>
    here.as(persona).post(`/projects/${here.project.id}/deployments/${id}/approval`, { status, ...more });
  const shown = async (id: number) =>
    (await here.as('reporter').get(`/projects/${here.project.id}/deployments/${id}`)).body;
  return { ...here, record, answer, shown };
}

test('Maintainers protect environments, and change and remove protections', async () => {
  const here = await world();
  const { as, people, group } = here;
  const given = {
    name: 'production',
    deploy_access_levels: [{ access_level: 40 }, { user_id: people.developer.id }],
    approval_rules: [{ group_id: group.id, group_inheritance_type: 1, required_approvals: 2 }],
  };
  assert.equal((await as('developer').post(at(here), given)).status, 403);
  const { status, body } = await as('maintainer').post(at(here), given);
  assert.equal(status, 201);
  assert.deepEqual(
    body.deploy_access_levels.map(({ id: _, ...rule }: { id: number }) => rule),
    [
      {
        access_level: 40,
        access_level_description: 'Maintainers',
        user_id: null,
        group_id: null,
        group_inheritance_type: 0,
      },
      {
        access_level: null,
        access_level_description: body.deploy_access_levels[1].access_level_description,
        user_id: people.developer.id,
        group_id: null,
        group_inheritance_type: 0,
      },
    ],
  );
  assert.equal(body.approval_rules[0].required_approvals, 2);
  assert.equal(body.required_approval_count, 0);

  const again = await as('maintainer').post(at(here), given);
  assert.deepEqual(
    [again.status, again.body.message],
    [409, "409 Conflict: Environment 'production' is already protected"],
  );
  const [first, second] = body.deploy_access_levels;
  const changed = await as('maintainer').put(at(here, '/production'), {
    deploy_access_levels: [
      { id: first.id, access_level: 30 },
      { id: second.id, _destroy: true },
      { user_id: people.owner.id },
    ],
    approval_rules: [{ id: body.approval_rules[0].id, required_approvals: 3 }],
  });
  assert.deepEqual(
    changed.body.deploy_access_levels.map((rule: Record<string, unknown>) => [rule.access_level, rule.user_id]),
    [
      [30, null],
      [null, people.owner.id],
    ],
  );
  assert.deepEqual(
    changed.body.approval_rules.map((rule: Record<string, unknown>) => [rule.group_id, rule.required_approvals]),
    [[group.id, 3]],
  );
  assert.equal((await as('developer').get(at(here))).status, 403);
  assert.equal((await as('maintainer').get(at(here))).body.length, 1);
  assert.equal((await as('maintainer').get(at(here, '/production'))).body.name, 'production');
  assert.equal((await as('maintainer').delete(at(here, '/production'))).status, 204);
  assert.equal((await as('maintainer').get(at(here, '/production'))).status, 404);
});

test('rules without a grantee, duplicates, and unrelated grantees are refused, and change nothing', async () => {
  const here = await world();
  const { as, people, person } = here;
  const stranger = await person();
  const name = 'production';
  const level = { access_level: 40 };
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ name }, 400, 'deploy_access_levels is missing'],
    [{ name: ' ', deploy_access_levels: [level] }, 400, { name: ["can't be blank"] }],
    [{ name, deploy_access_levels: [] }, 422, ["Deploy access levels can't be blank"]],
    [
      { name, deploy_access_levels: [{ user_id: stranger.id }] },
      422,
      ['Deploy access levels user is not a member of the project'],
    ],
    [
      { name, deploy_access_levels: [level], approval_rules: [{ group_id: 1_000_000 }] },
      422,
      ['Approval rules group does not have access to the project'],
    ],
    [{ name, deploy_access_levels: [level, level] }, 422, ['Rules name a user, group or access level twice']],
    [
      { name, deploy_access_levels: [level], required_approval_count: 1 },
      422,
      "Parameter 'required_approval_count' is deprecated and shouldn't be used.",
    ],
  ];
  for (const [body, status, message] of refusals) {
    const refused = await as('maintainer').post(at(here), body);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  const both = { ...level, user_id: people.owner.id };
  assert.equal((await as('maintainer').post(at(here), { name, deploy_access_levels: [both] })).status, 400);
  assert.equal((await as('maintainer').post(at(here), { name, deploy_access_levels: [{}] })).status, 400);
  assert.deepEqual((await as('maintainer').get(at(here))).body, []);

  const { body } = await as('maintainer').post(at(here), { name, deploy_access_levels: [level] });
  const last = { deploy_access_levels: [{ id: body.deploy_access_levels[0].id, _destroy: true }] };
  assert.equal((await as('maintainer').put(at(here, '/production'), last)).status, 422);
  const foreign = { approval_rules: [{ id: body.deploy_access_levels[0].id, access_level: 40 }] };
  assert.equal((await as('maintainer').put(at(here, '/production'), foreign)).status, 404);
  assert.deepEqual((await as('maintainer').get(at(here, '/production'))).body, body);
});

test('of two requests that protect an environment, one succeeds', async () => {
  const here = await world();
  const both = await Promise.all([1, 2].map(() => here.as('maintainer').post(at(here), { name: 'a', ...maintainers })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
});

test('only grantees of rules deploy to a protected environment, and stop and change it', async () => {
  const here = await deployable();
  const { as, project, people, record } = here;
  const { body: running } = await record('developer');
  const environment = `/projects/${project.id}/environments/${running.environment.id}`;
  const rules = { name: 'production', deploy_access_levels: [{ user_id: people.maintainer.id }] };
  await as('maintainer').post(at(here), rules);
  for (const persona of ['developer', 'owner', 'admin'] as const) {
    const refused = await record(persona);
    assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden']);
    const change = await as(persona).put(`/projects/${project.id}/deployments/${running.id}`, { status: 'success' });
    assert.equal(change.status, 403);
    assert.equal((await as(persona).post(`${environment}/stop`)).status, 403);
    assert.equal((await as(persona).put(environment, { tier: 'other' })).status, 403);
  }
  assert.equal((await as('owner').delete(`/projects/${project.id}/deployments/${running.id}`)).status, 403);
  assert.equal((await as('reporter').get(`/projects/${project.id}/deployments`)).body.length, 1);
  assert.equal((await as('reporter').get(environment)).body.state, 'available');
  const staging = await record('developer', { environment: 'staging' });
  assert.equal(staging.status, 201);
  await as('maintainer').post(at(here), { ...rules, name: 'live' });
  const renamed = `/projects/${project.id}/environments/${staging.body.environment.id}`;
  assert.equal((await as('developer').put(renamed, { name: 'live' })).status, 403);
  assert.equal((await as('developer').put(renamed, { name: 'stage' })).status, 200);
  assert.equal((await record('maintainer')).status, 201);
  assert.equal((await as('maintainer').post(`${environment}/stop`)).status, 200);
});

test('a group protects the environments of a tier, and both protections apply', async () => {
  const here = await deployable();
  const { as, group, record } = here;
  const url = `/groups/${group.id}/protected_environments`;
  const rules = { name: 'production', ...maintainers };
  assert.equal((await as('maintainer').post(url, rules)).status, 403);
  assert.equal((await as('owner').post(url, { ...rules, name: 'moon' })).status, 400);
  assert.equal((await as('owner').post(url, rules)).status, 201);
  assert.equal((await record('developer', { environment: 'prod-eu' })).status, 403);
  assert.equal((await record('maintainer', { environment: 'prod-eu' })).status, 201);
  const { body: other } = await record('developer', { environment: 'harbor' });
  const raised = `/projects/${here.project.id}/environments/${other.environment.id}`;
  assert.equal((await as('developer').put(raised, { tier: 'production' })).status, 403);
  await as('maintainer').post(at(here), { name: 'prod-eu', deploy_access_levels: [{ access_level: 60 }] });
  assert.equal((await record('maintainer', { environment: 'prod-eu' })).status, 403);
  assert.equal((await record('admin', { environment: 'prod-eu' })).status, 201);
  assert.equal((await as('owner').delete(`${url}/production`)).status, 204);
  assert.equal((await record('developer', { environment: 'prod-us' })).status, 201);
});

test('a deployment waits for the approvals that rules require, and then runs', async () => {
  const here = await deployable();
  const { as, project, people, record, answer, shown } = here;
  await as('maintainer').post(at(here), {
    name: 'production',
    deploy_access_levels: [{ access_level: 30 }],
    approval_rules: [{ access_level: 40, required_approvals: 1 }, { user_id: people.reporter.id }],
  });
  const early = await record('developer', { status: 'success' });
  assert.deepEqual([early.status, early.body.message], [400, 'The environment needs approvals']);
  const { status, body } = await record('developer');
  assert.deepEqual([status, body.status, body.pending_approval_count], [201, 'blocked', 2]);
  const url = `/projects/${project.id}/deployments/${body.id}`;
  for (const wanted of ['running', 'success']) {
    const refused = await as('developer').put(url, { status: wanted });
    assert.deepEqual([refused.status, refused.body.message], [400, 'The environment needs approvals']);
  }
  const unnamed = await answer('planner', body.id);
  assert.equal(unnamed.status, 403);
  const notNamed = await answer('developer', body.id);
  assert.equal(notNamed.body.message, 'You do not have permission to approve or reject this deployment');
  const given = await answer('maintainer', body.id, 'approved', { comment: 'Fine.' });
  assert.deepEqual([given.status, given.body.status, given.body.comment], [201, 'approved', 'Fine.']);
  await answer('owner', body.id);
  assert.deepEqual([(await shown(body.id)).status, (await shown(body.id)).pending_approval_count], ['blocked', 1]);
  await answer('reporter', body.id);
  const running = await shown(body.id);
  assert.deepEqual([running.status, running.pending_approval_count, running.approvals.length], ['running', 0, 3]);
  assert.deepEqual(
    running.approval_summary.rules.map((rule: { deployment_approvals: unknown[] }) => rule.deployment_approvals.length),
    [2, 1],
  );
  const late = await answer('maintainer', body.id, 'rejected');
  assert.equal(late.body.message, 'This deployment job is not waiting for approvals');
  assert.equal((await as('developer').put(url, { status: 'success' })).status, 200);
});

test('one rejection ends a deployment, and no one approves their own', async () => {
  const here = await deployable();
  const { as, record, answer, shown } = here;
  const unprotected = await record('maintainer');
  assert.equal((await answer('owner', unprotected.body.id)).body.message, 'This environment is not protected');
  await as('maintainer').post(at(here), {
    name: 'production',
    ...maintainers,
    approval_rules: [{ access_level: 40, required_approvals: 2 }],
  });
  const { body } = await record('maintainer');
  const own = await answer('maintainer', body.id);
  assert.deepEqual([own.status, own.body.message], [400, 'The same user can not approve']);
  assert.deepEqual((await shown(body.id)).approvals, []);
  assert.equal((await answer('owner', body.id, 'approved', { represented_as: 'Moon' })).status, 400);
  assert.equal((await answer('owner', body.id, 'approved', { represented_as: 'Maintainers' })).status, 201);
  assert.equal((await answer('owner', body.id)).status, 201, 'again changes nothing');
  assert.equal((await shown(body.id)).pending_approval_count, 1);
  assert.equal((await answer('maintainer', body.id, 'rejected')).status, 201);
  const ended = await shown(body.id);
  assert.deepEqual([ended.status, ended.pending_approval_count], ['failed', 0]);
  assert.ok(ended.finished_at);
});

test('if two last approvals arrive concurrently, one lets the deployment run', async () => {
  const here = await deployable();
  const { as, record, answer, shown } = here;
  const rules = {
    name: 'production',
    deploy_access_levels: [{ access_level: 30 }],
    approval_rules: [{ access_level: 40 }],
  };
  await as('maintainer').post(at(here), rules);
  const { body } = await record('developer');
  const both = await Promise.all([answer('maintainer', body.id), answer('owner', body.id)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 400]);
  assert.equal((await shown(body.id)).status, 'running');
});

test('a deployment waits for the rules in force when it was created, even if its environment is renamed', async () => {
  const here = await deployable();
  const { as, group, project, record, answer, shown } = here;
  const everybody = { deploy_access_levels: [{ access_level: 30 }] };
  const twice = { ...everybody, approval_rules: [{ access_level: 40, required_approvals: 2 }] };
  await as('maintainer').post(at(here), { name: 'vault', ...twice });
  await as('owner').post(`/groups/${group.id}/protected_environments`, { name: 'staging', ...twice });
  await as('maintainer').post(at(here), { name: 'free', ...everybody });
  for (const [environment, changes] of [
    ['vault', [{ name: 'x' }, { name: 'free' }]],
    ['staging', [{ tier: 'other' }]],
  ] as const) {
    const { body } = await record('developer', { environment });
    assert.equal(body.status, 'blocked');
    const place = `/projects/${project.id}/environments/${body.environment.id}`;
    const at_once = () => as('developer').put(`/projects/${project.id}/deployments/${body.id}`, { status: 'success' });
    for (const change of changes) {
      assert.equal((await as('developer').put(place, change)).status, 403, JSON.stringify(change));
      assert.equal((await at_once()).status, 400);
    }
    assert.equal((await as('developer').put(place, { description: 'Stays.' })).status, 200);
    // Who may end the protection may do this, too, and the deployment still waits.
    for (const change of changes) {
      assert.equal((await as('owner').put(place, change)).status, 200);
      const waits = await at_once();
      assert.deepEqual([waits.status, waits.body.message], [400, 'The environment needs approvals']);
      assert.equal((await shown(body.id)).pending_approval_count, 2);
    }
    for (const status of ['canceled', 'success', 'running'])
      await as('developer').put(`/projects/${project.id}/deployments/${body.id}`, { status });
    assert.equal((await shown(body.id)).status, 'canceled');
  }
  assert.equal((await as('maintainer').put(`/groups/${group.id}/protected_environments/staging`, {})).status, 403);

  const { body: again } = await record('developer', { environment: 'vault' });
  assert.equal((await answer('maintainer', again.id)).status, 201);
  assert.equal((await answer('owner', again.id)).status, 201);
  assert.equal((await shown(again.id)).status, 'running');

  // What was deployed without approvals does not become what needs them.
  const { body: aside } = await record('developer', { environment: 'aside', status: 'success' });
  const place = `/projects/${project.id}/environments/${aside.environment.id}`;
  await as('maintainer').post(at(here), { name: 'safe', ...twice });
  for (const change of [{ name: 'safe' }, { tier: 'staging' }])
    assert.equal((await as('developer').put(place, change)).status, 403, JSON.stringify(change));
  assert.equal((await as('maintainer').put(place, { tier: 'staging' })).status, 403, 'the tier is the group owners’');
  assert.equal((await as('maintainer').put(place, { name: 'safe' })).status, 200);
});

test('users cannot create an environment that is protected against them', async () => {
  const here = await deployable();
  const { as, group, people, project } = here;
  const url = `/projects/${project.id}/environments`;
  await as('maintainer').post(at(here), { name: 'vault', deploy_access_levels: [{ user_id: people.maintainer.id }] });
  await as('owner').post(`/groups/${group.id}/protected_environments`, { name: 'production', ...maintainers });
  for (const fields of [{ name: 'vault' }, { name: 'live-eu' }, { name: 'quiet', tier: 'production' }]) {
    assert.equal((await as('developer').post(url, fields)).status, 403, JSON.stringify(fields));
    assert.deepEqual((await as('developer').get(url)).body, []);
  }
  assert.equal((await as('developer').post(url, { name: 'live-eu', tier: 'other' })).status, 201);
  assert.equal((await as('maintainer').post(url, { name: 'vault' })).status, 201);
  assert.equal((await as('maintainer').post(url, { name: 'quiet', tier: 'production' })).status, 201);
});

test('bots of projects and groups cannot approve', async () => {
  const here = await deployable();
  const { as, group, project, record, shown } = here;
  await as('maintainer').post(at(here), {
    name: 'production',
    ...maintainers,
    approval_rules: [{ access_level: 40, required_approvals: 1 }],
  });
  const { body } = await record('maintainer');
  for (const [persona, place] of [
    ['maintainer', `/projects/${project.id}`],
    ['owner', `/groups/${group.id}`],
  ] as const) {
    const token = { name: 'bot', scopes: ['api'], access_level: 40, expires_at: daysFromNow(30) };
    const made = await as(persona).post(`${place}/access_tokens`, token);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const bot = clientOf(`${here.url}/api/v4`, made.body.token);
    const url = `/projects/${project.id}/deployments/${body.id}/approval`;
    const refused = await bot.post(url, { status: 'approved' });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [400, 'Bots of projects and groups can not approve'],
      place,
    );
  }
  assert.deepEqual([(await shown(body.id)).status, (await shown(body.id)).approvals], ['blocked', []]);
});
