import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { addPolicyProject, approvalPolicy, pushPolicies } from '../../../../test/support/policies.ts';
import { filledWorld, onMain } from '../../../../test/support/repository.ts';
import { readSecurityPolicies, tellOfPolicyErrors } from './index.ts';

test('a project and its groups are linked to the project with their policies', async () => {
  const here = await filledWorld();
  const { as, group, project } = here;
  const policies = await addPolicyProject(here);
  const [ofProject, ofGroup] = [`/projects/${project.id}`, `/groups/${group.id}`];
  const link = (place: string) => `${place}/security_policy_project`;
  assert.equal((await as('developer').get(link(ofProject))).body, null);
  assert.equal((await as('reporter').get(link(ofProject))).status, 403);
  assert.equal((await as('maintainer').put(link(ofProject), { project_id: policies.id })).status, 403);

  const made = await as('owner').put(link(ofGroup), { project_id: policies.id });
  const { name_with_namespace } = (await as('owner').get(`/projects/${policies.id}`)).body;
  const shown = { project_id: policies.id, name_with_namespace, branch: 'main' };
  assert.deepEqual([made.status, made.body], [200, { ...shown, inherited_from: null }]);
  assert.deepEqual((await as('developer').get(link(ofProject))).body, { ...shown, inherited_from: group.full_path });
  await performQueued(here.services, [readSecurityPolicies]);

  await pushPolicies(here, policies, approvalPolicy());
  const listed = async (place: string) => (await as('developer').get(`${place}/security_policies`)).body;
  const [one] = await listed(ofProject);
  assert.deepEqual(one, {
    ...{ name: 'Four eyes', description: null, type: 'approval_policy', enabled: true, errors: [] },
    source: { project_id: policies.id, full_path: policies.full_path, inherited_from: group.full_path },
    scope: {
      projects: { including: [], excluding: [] },
      groups: { including: [], excluding: [] },
      compliance_frameworks: [],
    },
  });
  assert.equal((await listed(ofGroup)).length, 1);

  // The last good version stays in force.
  await pushPolicies(here, policies, `${approvalPolicy()}\nfruit_policy: []\n`);
  const [still] = await listed(ofProject);
  assert.deepEqual([still.name, still.errors], ['Four eyes', ['fruit_policy is not a kind of policies']]);
  const mail = await mailOf(here.services, [tellOfPolicyErrors]);
  assert.ok(mail.length > 0);
  assert.equal(mail[0]!.subject, `The security policies of ${policies.full_path} have errors`);
  await pushPolicies(here, policies, 'approval_policy: []\n');
  assert.deepEqual(await listed(ofProject), []);
  await pushPolicies(here, policies, approvalPolicy().replace('Four eyes', 'Six eyes'));
  assert.equal((await listed(ofProject))[0].name, 'Six eyes');

  const events = await as('owner').get(`/projects/${policies.id}/audit_events`);
  assert.ok(events.body.some((each: { event_name: string }) => each.event_name === 'security_policies_updated'));

  assert.equal((await as('owner').delete(link(ofProject))).status, 204, 'it has none of its own');
  assert.equal((await as('owner').delete(link(ofGroup))).status, 204);
  assert.deepEqual([(await as('developer').get(link(ofProject))).body, await listed(ofProject)], [null, []]);
});

test('a policy project is another project of the same top-level group, whose code the caller may read', async () => {
  const here = await filledWorld();
  const { as, group, project } = here;
  const link = `/projects/${project.id}/security_policy_project`;
  const policies = await addPolicyProject(here);
  const own = (await as('owner').post('/projects', { name: 'elsewhere' })).body;
  const elsewhere = 'The policy project must be in the same top-level group';
  for (const id of [project.id, own.id]) {
    const refused = await as('owner').put(link, { project_id: id });
    assert.deepEqual([refused.status, refused.body.message], [400, elsewhere]);
  }
  assert.equal((await as('owner').put(link, { project_id: 999_999_999 })).status, 404);
  for (const odd of ['x', 'no/where']) assert.equal((await as('owner').put(link, { project_id: odd })).status, 404);
  for (const odd of ['', 'a/\0', [], {}]) assert.equal((await as('owner').put(link, { project_id: odd })).status, 400);
  // Someone who has only the permission, and may read the code of the policy project.
  const linker = await personWith(here, `/projects/${project.id}`, ['manage_security_policy_link']);
  assert.equal((await linker.client.put(link, { project_id: policies.id })).status, 404, 'it is hidden from them');
  const member = { user_id: linker.id, access_level: 20 };
  assert.equal((await as('owner').post(`/projects/${policies.id}/members`, member)).status, 201);
  assert.equal((await linker.client.put(link, { project_id: policies.id })).status, 200);
  assert.equal((await linker.client.get(link)).body.project_id, policies.id);
  assert.equal((await linker.client.delete(link)).status, 204);
  assert.equal(
    (await linker.client.put(`/groups/${group.id}/security_policy_project`, { project_id: policies.id })).status,
    403,
  );
});

test('what a file names must exist in the top-level group', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const policies = await addPolicyProject(here);
  await as('owner').put(`/projects/${project.id}/security_policy_project`, { project_id: policies.id });
  const errorsOf = async (text: string) => {
    await pushPolicies(here, policies, text);
    const [first] = (await as('developer').get(`/projects/${project.id}/security_policies`)).body;
    return first?.errors;
  };
  const named = (approvers: string) => approvalPolicy().replace('role_approvers: [maintainer]', approvers);
  assert.deepEqual(await errorsOf(named('user_approvers: [nobody-at-all]')), [
    "The policy 'Four eyes' names users who do not exist: nobody-at-all",
  ]);
  assert.deepEqual(await errorsOf(named('group_approvers: [some/where]')), [
    "The policy 'Four eyes' names groups that are not in the top-level group: some/where",
  ]);
  assert.deepEqual(await errorsOf(named('role_approvers: [999999]')), [
    "The policy 'Four eyes' names member roles that do not exist: 999999",
  ]);
  const own = (await as('outsider').post('/projects', { name: 'hidden', visibility: 'private' })).body;
  const scope = (id: number) => `${approvalPolicy()}    policy_scope: { projects: { including: [{ id: ${id} }] } }\n`;
  assert.deepEqual(await errorsOf(scope(own.id)), [
    `The policy 'Four eyes' is about projects that are not in the top-level group: ${own.id}`,
  ]);
  assert.deepEqual(
    await errorsOf(`${approvalPolicy()}    policy_scope: { compliance_frameworks: [{ id: 999999 }] }\n`),
    ["The policy 'Four eyes' is about compliance frameworks that the top-level group does not have: 999999"],
  );
  assert.deepEqual(await errorsOf(named(`user_approvers: [${people.maintainer.username}]`)), []);
});

test('policies end while their project is archived, and with it', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const policies = await addPolicyProject(here);
  const url = `/projects/${project.id}`;
  await as('owner').put(`${url}/security_policy_project`, { project_id: policies.id });
  await pushPolicies(here, policies, approvalPolicy());
  const count = async () => (await as('developer').get(`${url}/security_policies`)).body.length;
  assert.equal(await count(), 1);
  await as('owner').post(`/projects/${policies.id}/archive`);
  assert.equal(await count(), 0);
  await as('owner').post(`/projects/${policies.id}/unarchive`);
  assert.equal(await count(), 1);
  await here.db.deleteFrom('projects').where('id', '=', policies.id).execute();
  assert.equal((await as('developer').get(`${url}/security_policy_project`)).body, null);
});

test('settings of policies keep protected branches as they are', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const policies = await addPolicyProject(here);
  const url = `/projects/${project.id}`;
  const commit = () =>
    as('maintainer').post(`${url}/repository/files/more.txt`, { ...onMain, content: `${Math.random()}` });
  const settings = `    approval_settings:
      prevent_pushing_and_force_pushing: true
      block_branch_modification: true
`;
  await as('owner').put(`${url}/security_policy_project`, { project_id: policies.id });
  await pushPolicies(here, policies, approvalPolicy() + settings);
  const text = "Push to branch 'main' does not follow the policy 'Four eyes'";
  const refused = await commit();
  assert.deepEqual([refused.status, refused.body.message], [400, text]);
  const kept = "403 Forbidden - Branch 'main' stays as it is, by the policy 'Four eyes'";
  const unprotected = await as('owner').delete(`${url}/protected_branches/main`);
  assert.deepEqual([unprotected.status, unprotected.body.message], [403, kept]);
  assert.equal((await as('owner').put(`${url}/repository/branches/main/unprotect`)).status, 403);
  await as('owner').post(`${url}/repository/branches`, { branch: 'other', ref: 'main' });
  const moved = await as('owner').put(url, { default_branch: 'other' });
  assert.deepEqual([moved.status, moved.body.message], [403, kept]);
  await pushPolicies(here, policies, approvalPolicy());
  assert.equal((await commit()).status, 201);
  assert.equal((await as('owner').delete(`${url}/protected_branches/main`)).status, 204);
});

test('settings of policies keep the protections that a group has, too', async () => {
  const here = await filledWorld();
  const { as, group, project } = here;
  const policies = await addPolicyProject(here);
  const at = `/groups/${group.id}/protected_branches`;
  for (const name of ['ma*', 'release/*']) assert.equal((await as('owner').post(at, { name })).status, 201);
  await as('owner').put(`/projects/${project.id}/security_policy_project`, { project_id: policies.id });
  const settings = '    approval_settings: { block_branch_modification: true }\n';
  await pushPolicies(
    here,
    policies,
    approvalPolicy().replace('branch_type: protected', 'branch_type: default') + settings,
  );
  const refused = await as('owner').delete(`${at}/ma%2A`);
  const kept = "403 Forbidden - Branch 'ma*' stays as it is, by the policy 'Four eyes'";
  assert.deepEqual([refused.status, refused.body.message], [403, kept]);
  assert.equal((await as('owner').delete(`${at}/release%2F%2A`)).status, 204, 'the policy is not about it');
  await pushPolicies(here, policies, approvalPolicy());
  assert.equal((await as('owner').delete(`${at}/ma%2A`)).status, 204);
});

test('a member of a group with only the permission links it to a project whose code they may read', async () => {
  const here = await filledWorld();
  const { as, group, project } = here;
  const policies = await addPolicyProject(here);
  const linker = await personWith(here, `/groups/${group.id}`, ['manage_security_policy_link']);
  const link = `/groups/${group.id}/security_policy_project`;
  assert.equal((await linker.client.put(link, { project_id: policies.id })).status, 404, 'its code is not for guests');
  await as('owner').post(`/projects/${policies.id}/members`, { user_id: linker.id, access_level: 20 });
  assert.equal((await linker.client.put(link, { project_id: policies.id })).status, 200);
  assert.equal((await linker.client.get(`/groups/${group.id}/security_policies`)).status, 200);
  assert.equal((await linker.client.delete(link)).status, 204);
  assert.equal((await linker.client.put(`/projects/${project.id}`, { description: 'Mine' })).status, 403);
});
