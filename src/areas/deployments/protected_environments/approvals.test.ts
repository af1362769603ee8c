import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { addReadme, filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const protectionsOf = ({ project }: World) => `/projects/${project.id}/protected_environments`;
const deploymentsOf = ({ project }: World) => `/projects/${project.id}/deployments`;
const developers = { deploy_access_levels: [{ access_level: 30 }] };

async function recorderOf(here: World) {
  const sha = await headOf(here);
  return (persona: Persona, status = 'running') =>
    here.as(persona).post(deploymentsOf(here), { environment: 'production', sha, ref: 'main', tag: false, status });
}

/** Lets the groups and the project of a world be seen by everyone. */
async function publish({ as, group, project }: World): Promise<void> {
  await sent(as('admin').put(`/groups/${group.id}`, { visibility: 'public' }));
  await sent(as('owner').put(`/projects/${project.id}`, { visibility: 'public' }));
}

test('a rejected or failed deployment cannot succeed without the approvals', async () => {
  const here = await filledWorld();
  const { as } = here;
  const record = await recorderOf(here);
  const rules = { name: 'production', ...developers, approval_rules: [{ access_level: 40 }] };
  await sent(as('maintainer').post(protectionsOf(here), rules));
  const { id: rejected } = await sent(record('developer'));
  await sent(as('maintainer').post(`${deploymentsOf(here)}/${rejected}/approval`, { status: 'rejected' }));
  const { id: failed } = await sent(record('developer', 'failed'));
  const { id: canceled } = await sent(record('developer'));
  await sent(as('developer').put(`${deploymentsOf(here)}/${canceled}`, { status: 'canceled' }));
  for (const id of [rejected, failed, canceled]) {
    const refused = await as('developer').put(`${deploymentsOf(here)}/${id}`, { status: 'success' });
    assert.deepEqual([refused.status, refused.body.message], [400, 'The environment needs approvals']);
    assert.notEqual((await as('reporter').get(`${deploymentsOf(here)}/${id}`)).body.status, 'success');
  }

  const { id: approved } = await sent(record('developer'));
  await sent(as('maintainer').post(`${deploymentsOf(here)}/${approved}/approval`, { status: 'approved' }));
  for (const status of ['failed', 'success'])
    await sent(as('developer').put(`${deploymentsOf(here)}/${approved}`, { status }));
});

test('a freeze refuses the last approval, and not the deployment that waits for it', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const record = await recorderOf(here);
  const rules = { name: 'production', ...developers, approval_rules: [{ access_level: 40, required_approvals: 2 }] };
  await sent(as('maintainer').post(protectionsOf(here), rules));
  const freeze = { freeze_start: '* * * * *', freeze_end: '0 0 1 1 *' };
  await sent(as('maintainer').post(`/projects/${project.id}/freeze_periods`, freeze));
  await sent(as('maintainer').put(`/projects/${project.id}`, { deployment_freeze: 'refuse' }));
  const { id, status, during_freeze } = await sent(record('developer'));
  assert.deepEqual([status, during_freeze], ['blocked', false]);
  const at = `${deploymentsOf(here)}/${id}`;
  const answer = (persona: Persona, more: object = {}) =>
    as(persona).post(`${at}/approval`, { status: 'approved', ...more });
  await sent(answer('maintainer'));
  const refused = await answer('owner');
  assert.equal(refused.status, 403);
  assert.match(refused.body.message, /^403 Forbidden - The project is in a deploy freeze until /);
  const waiting = (await as('reporter').get(at)).body;
  assert.deepEqual([waiting.status, waiting.pending_approval_count], ['blocked', 1]);
  await sent(answer('owner', { override_freeze: true }));
  const begun = (await as('reporter').get(at)).body;
  assert.deepEqual([begun.status, begun.during_freeze], ['running', true]);
  await sent(as('developer').put(at, { status: 'success' }));
});

test('a rule no longer applies to a user or group that has left the project, and Maintainers take their place', async () => {
  const here = await filledWorld();
  const { as, project, person } = here;
  await publish(here);
  const record = await recorderOf(here);
  const [leaver, friend] = [await person(), await person()];
  const members = `/projects/${project.id}/members`;
  await sent(as('owner').post(members, { user_id: leaver.id, access_level: 20 }));
  const friends = await sent(as('admin').post('/groups', { name: 'Friends', path: `friends-${project.id}` }));
  await sent(as('admin').post(`/groups/${friends.id}/members`, { user_id: friend.id, access_level: 30 }));
  await sent(as('admin').post(`/projects/${project.id}/share`, { group_id: friends.id, group_access: 20 }));
  const rules = {
    name: 'production',
    ...developers,
    approval_rules: [{ user_id: leaver.id }, { group_id: friends.id }],
  };
  await sent(as('maintainer').post(protectionsOf(here), rules));
  const { id } = await sent(record('developer'));
  const approve = ({ client }: typeof leaver) =>
    client.post(`${deploymentsOf(here)}/${id}/approval`, { status: 'approved' });
  await sent(as('owner').delete(`${members}/${leaver.id}`));
  await sent(as('admin').delete(`/projects/${project.id}/share/${friends.id}`));
  for (const person of [leaver, friend]) {
    const refused = await approve(person);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [400, 'You do not have permission to approve or reject this deployment'],
    );
  }
  assert.deepEqual((await as('reporter').get(`${deploymentsOf(here)}/${id}`)).body.approvals, []);
  await sent(as('owner').post(members, { user_id: leaver.id, access_level: 20 }));
  assert.equal((await approve(leaver)).status, 400, 'and does not come back with them');
  const { body } = await as('reporter').get(`${deploymentsOf(here)}/${id}`);
  assert.deepEqual([body.status, body.pending_approval_count], ['blocked', 1]);
  await sent(as('maintainer').post(`${deploymentsOf(here)}/${id}/approval`, { status: 'approved' }));
  assert.equal((await as('reporter').get(`${deploymentsOf(here)}/${id}`)).body.status, 'running');
});

test('an approval for a rule that was deleted meanwhile is refused', async () => {
  const here = await world({});
  const { as, db } = here;
  await addReadme(here);
  const record = await recorderOf(here);
  const rules = { name: 'production', ...developers, approval_rules: [{ access_level: 40, required_approvals: 2 }] };
  const { approval_rules } = await sent(as('maintainer').post(protectionsOf(here), rules));
  const { id } = await sent(record('developer'));
  const { approval } = await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('protected_environment_rules').where('id', '=', approval_rules[0].id).execute();
    const approval = as('maintainer').post(`${deploymentsOf(here)}/${id}/approval`, { status: 'approved' });
    await untilLockWaits(db);
    return { approval };
  });
  const { status, body } = await approval;
  assert.deepEqual([status, body.message], [400, 'You do not have permission to approve or reject this deployment']);
  assert.deepEqual((await as('reporter').get(`${deploymentsOf(here)}/${id}`)).body.approvals, []);
});

test('without the plan, protected environments are stopped with other stale ones', async () => {
  const here = await world({});
  const { as, project } = here;
  const environments = `/projects/${project.id}/environments`;
  await sent(as('maintainer').post(protectionsOf(here), { name: 'old', ...developers }));
  const { id } = await sent(as('developer').post(environments, { name: 'old' }));
  const before = new Date(Date.now() - 8 * 86_400_000).toISOString();
  await here.db.updateTable('environments').set({ updated_at: '2025-01-01' }).where('id', '=', id).execute();
  const stop = async () => {
    await sent(as('maintainer').post(`${environments}/stop_stale`, { before }));
    return (await as('reporter').get(`${environments}/${id}`)).body.state;
  };
  assert.equal(await stop(), 'available');
  await changePlan(here, 'free');
  assert.equal(await stop(), 'stopped');
});
