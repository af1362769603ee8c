import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailOf } from '../../../../test/support/mail.ts';
import { addPolicyProject, approvalPolicy, pushPolicies } from '../../../../test/support/policies.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { tellOfPolicyEnd } from './index.ts';

const linkOf = (place: string) => `${place}/security_policy_project`;

/** A world whose group and project are both linked to a policy project with a policy. */
async function linkedWorld() {
  const here = await filledWorld();
  const policies = await addPolicyProject(here);
  const [ofProject, ofGroup] = [`/projects/${here.project.id}`, `/groups/${here.group.id}`];
  for (const place of [ofProject, ofGroup]) {
    const linked = await here.as('owner').put(linkOf(place), { project_id: policies.full_path });
    assert.equal(linked.status, 200, JSON.stringify(linked.body));
  }
  await pushPolicies(here, policies, approvalPolicy());
  return { here, policies, ofProject, ofGroup };
}

/** The messages to the Owner. */
async function messages({ services, people }: World) {
  const sent = await mailOf(services, [tellOfPolicyEnd]);
  return sent
    .filter(({ to }) => to.address.startsWith(people.owner.username))
    .map(({ subject, paragraphs }) => ({ subject, text: String(paragraphs[0]) }));
}

const removals = async ({ as }: World, place: string) =>
  (await as('owner').get(`${place}/audit_events`)).body.filter(
    (each: { event_name: string }) => each.event_name === 'security_policy_project_unlinked',
  ).length;

test('Owners of what is linked are told when the policy project is archived or deleted, once', async () => {
  const { here, policies } = await linkedWorld();
  const { as, group, project } = here;
  assert.equal((await as('owner').post(`/projects/${policies.id}/archive`)).status, 201);
  const [message, ...others] = await messages(here);
  assert.deepEqual(others, []);
  assert.equal(message!.subject, `The security policies of ${policies.full_path} have ended`);
  assert.match(message!.text, new RegExp(`was archived. .* in ${group.full_path} and ${project.full_path}\\.`));
  await as('owner').delete(`/projects/${policies.id}`);
  assert.deepEqual(await messages(here), [], 'they had ended already');
  await as('owner').post(`/projects/${policies.id}/restore`);
  await as('owner').post(`/projects/${policies.id}/unarchive`);
  await as('owner').delete(`/projects/${policies.id}`);
  assert.match((await messages(here))[0]!.text, /is being deleted/);
});

test('a policy project in a group that is archived or deleted ends what is outside of the group', async () => {
  const here = await filledWorld();
  const { as, group, project } = here;
  const rules = (await as('owner').post('/groups', { name: 'Rules', path: `rules-${group.id}`, parent_id: group.id }))
    .body;
  const policies = (await as('owner').post('/projects', { name: 'law', namespace_id: rules.id })).body;
  const inner = (await as('owner').post('/projects', { name: 'inner', namespace_id: rules.id })).body;
  for (const id of [project.id, inner.id])
    await as('owner').put(linkOf(`/projects/${id}`), { project_id: policies.id });
  assert.equal((await as('owner').post(`/groups/${rules.id}/archive`)).status, 200);
  const [message] = await messages(here);
  assert.match(message!.text, new RegExp(`in ${project.full_path}\\.`));
});

test('a project that leaves the top-level group has no policies of it, and its own link is removed', async () => {
  const { here, policies, ofProject, ofGroup } = await linkedWorld();
  const { as } = here;
  const listed = async () => (await as('owner').get(`${ofProject}/security_policies`)).body.length;
  assert.equal(await listed(), 1, 'the nearest link counts once');
  const other = (await as('owner').post('/groups', { name: 'Other', path: `other-${here.group.id}` })).body;
  const before = await removals(here, ofProject);
  assert.equal((await as('owner').put(`${ofProject}/transfer`, { namespace: other.id })).status, 200);
  assert.deepEqual([await listed(), (await as('owner').get(linkOf(ofProject))).body], [0, null]);
  assert.equal(await removals(here, ofProject), before + 1);
  assert.match((await messages(here))[0]!.text, /is not in the same top-level group any more/);
  assert.equal((await as('owner').get(linkOf(ofGroup))).body.project_id, policies.id, 'the group keeps its link');
  // It would be in force again if the link had only been hidden.
  await as('owner').put(`${ofProject}/transfer`, { namespace: here.group.id });
  assert.equal((await as('owner').get(linkOf(ofProject))).body.inherited_from, here.group.full_path);
});

test('a policy project that leaves the top-level group takes all links to it with it', async () => {
  const { here, policies, ofProject, ofGroup } = await linkedWorld();
  const { as, db } = here;
  const other = (await as('owner').post('/groups', { name: 'Other', path: `other-${here.group.id}` })).body;
  const moved = await as('owner').put(`/projects/${policies.id}/transfer`, { namespace: other.id });
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  for (const place of [ofProject, ofGroup]) {
    assert.equal((await as('owner').get(linkOf(place))).body, null);
    assert.equal(await removals(here, place), 1);
  }
  assert.equal((await messages(here)).length, 1);
  const files = await db
    .selectFrom('security_policy_files')
    .selectAll()
    .where('project_id', '=', policies.id)
    .execute();
  assert.deepEqual(files, [], 'nobody reads the file any more');
});

test('a group that leaves the top-level group has links within itself only', async () => {
  const here = await filledWorld();
  const { as, group } = here;
  const policies = await addPolicyProject(here);
  const sub = (await as('owner').post('/groups', { name: 'Sub', path: 'sub', parent_id: group.id })).body;
  const [inner, outer, own] = await Promise.all(
    ['inner', 'outer', 'own'].map(
      async (name) => (await as('owner').post('/projects', { name, namespace_id: sub.id })).body,
    ),
  );
  await as('owner').put(linkOf(`/projects/${outer.id}`), { project_id: policies.id });
  await as('owner').put(linkOf(`/projects/${inner.id}`), { project_id: own.id });
  await as('owner').put(linkOf(`/groups/${sub.id}`), { project_id: policies.id });
  await as('owner').put(linkOf(`/groups/${group.id}`), { project_id: own.id });
  const moved = await as('owner').post(`/groups/${sub.id}/transfer`);
  assert.equal(moved.status, 201, JSON.stringify(moved.body));
  const linked = async (place: string) => (await as('owner').get(linkOf(place))).body?.project_id ?? null;
  assert.deepEqual(
    [
      await linked(`/projects/${outer.id}`),
      await linked(`/projects/${inner.id}`),
      await linked(`/groups/${sub.id}`),
      await linked(`/groups/${group.id}`),
    ],
    [null, own.id, null, null],
  );
});

test('links of a deleted group end with it, and the file of their policy project is forgotten', async () => {
  const here = await filledWorld();
  const { as, group, db } = here;
  const policies = await addPolicyProject(here);
  const sub = (await as('owner').post('/groups', { name: 'Sub', path: 'sub', parent_id: group.id })).body;
  await as('owner').put(linkOf(`/groups/${sub.id}`), { project_id: policies.id });
  await db.deleteFrom('namespaces').where('id', '=', sub.id).execute();
  await pushPolicies(here, policies, 'approval_policy: 7\n');
  const files = await db
    .selectFrom('security_policy_files')
    .selectAll()
    .where('project_id', '=', policies.id)
    .execute();
  assert.deepEqual(files, []);
});
