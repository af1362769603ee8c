/** Files of policies that ask for too much, or for what cannot be: the last good version stays in force, and nobody is locked out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addMergeRequest, settleMergeRequests } from '../../../../test/support/merge_requests.ts';
import {
  addPolicyProject,
  approvalPolicy,
  pushPolicies,
  worldWithPolicies,
} from '../../../../test/support/policies.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';
import { readSecurityPolicies } from './index.ts';

const linkOf = (place: string) => `${place}/security_policy_project`;
const listed = async ({ as, project }: World) =>
  (await as('developer').get(`/projects/${project.id}/security_policies`)).body as { name: string; errors: string[] }[];

/** Lists of ten of the list before, nine times. */
function bomb(): string {
  const lines = ['a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
  for (let at = 1; at < 9; at++) {
    const [name, before] = [String.fromCharCode(97 + at), String.fromCharCode(96 + at)];
    lines.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
  }
  return lines.join('\n');
}

/** A policy with the same thousand long licenses in all its rules. */
function wide(): string {
  const words = Array.from({ length: 600 }, (_, at) => `${'L'.repeat(240)}${at}`);
  const rule = (licenses: string) =>
    `{ type: license_finding, branch_type: protected, match_on_inclusion_license: true, license_states: [detected], license_types: ${licenses} }`;
  const rules = [rule(`&all [${words.join(', ')}]`), ...Array.from({ length: 4 }, () => rule('*all'))];
  return `approval_policy:\n  - name: Wide\n    enabled: true\n    rules: [${rules.join(', ')}]\n`;
}

test('a hostile file is refused with short errors, and the version before it stays in force', async () => {
  const { here, policies } = await worldWithPolicies(approvalPolicy());
  const rule = '      - { type: any_merge_request }\n';
  const cases: [text: string, error: string][] = [
    [bomb(), 'The parsed YAML is too big'],
    [
      approvalPolicy().replace(/ {6}- branch_type: protected\n.*\n/, rule.repeat(5_000)),
      'approval_policy:1:rules config has too many entries (maximum 5)',
    ],
    [wide(), 'The policies are larger than 512 KiB.'],
    [`${'k'.repeat(200_000)}: 1`, `${'k'.repeat(499)}…`],
    ['approval_policy: [', ''],
    ['\u0000', ''],
    [`approval_policy: ${'['.repeat(5_000)}`, 'The parsed YAML is too big'],
    [`# ${'x'.repeat(300_000)}`, 'The file is larger than 256 KiB.'],
  ];
  for (const [text, error] of cases) {
    await pushPolicies(here, policies, text);
    const [first, ...others] = await listed(here);
    assert.deepEqual([first!.name, others], ['Four eyes', []]);
    assert.equal(first!.errors.length, 1, text.slice(0, 100));
    assert.ok(error === '' || first!.errors[0] === error, `${first!.errors[0]} instead of ${error}`);
    assert.ok(first!.errors[0]!.length <= 500);
  }
  await addMergeRequest(here);
  assert.equal((await here.as('owner').put(`/projects/${here.project.id}/merge_requests/1/merge`)).status, 405);
});

test('patterns that would explode as expressions are matched as names', async () => {
  const pattern = `${'*z'.repeat(100)}*b`;
  const patterns = Array.from({ length: 100 }, (_, at) => `"${pattern}${at}"`).join(', ');
  const { here } = await worldWithPolicies(
    approvalPolicy().replace('branch_type: protected', `branches: [${patterns}]`),
  );
  assert.deepEqual(
    (await listed(here)).map(({ errors }) => errors),
    [[]],
  );
  for (const branch of ['z'.repeat(200), `${'z'.repeat(150)}b7`]) {
    const made = { branch, ref: 'main' };
    await sent(here.as('owner').post(`/projects/${here.project.id}/repository/branches`, made));
    const { iid } = await addMergeRequest(here, { target_branch: branch });
    const { body } = await here.as('owner').get(`/projects/${here.project.id}/merge_requests/${iid}/approval_state`);
    assert.equal(body.rules.length, branch.endsWith('b7') ? 1 : 0);
  }
});

test('policy projects in a circle ask each other for approvals, and no more', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const [one, other] = [await addPolicyProject(here), await addPolicyProject(here)];
  await as('owner').put(linkOf(`/projects/${one.id}`), { project_id: other.id });
  await as('owner').put(linkOf(`/projects/${other.id}`), { project_id: one.id });
  await as('owner').put(linkOf(`/projects/${project.id}`), { project_id: one.id });
  const named = (name: string) => approvalPolicy().replace('Four eyes', name);
  await pushPolicies(here, one, named('One'));
  await pushPolicies(here, other, named('Other'));
  assert.deepEqual(
    (await listed(here)).map(({ name }) => name),
    ['One'],
    'policies of a policy project do not reach further',
  );
  const inOne = await as('owner').get(`/projects/${one.id}/security_policies`);
  assert.deepEqual(
    inOne.body.map(({ name }: { name: string }) => name),
    ['Other'],
  );
});

test('a policy project that its own policies lock opens by a merge request or by its link', async () => {
  const here = await filledWorld();
  const { as, group } = here;
  const policies = await addPolicyProject(here);
  await as('owner').put(linkOf(`/groups/${group.id}`), { project_id: policies.id });
  const settings = `    approval_settings:
      prevent_pushing_and_force_pushing: true
      block_branch_modification: true
      prevent_approval_by_author: true
`;
  await pushPolicies(here, policies, approvalPolicy().replace('[maintainer]', '[maintainer, owner]') + settings);
  const file = fileUrl(policies, '.gitlab/security-policies/policy.yml');
  const change = { ...onMain, content: 'approval_policy: []\n' };
  assert.equal((await as('owner').put(file, change)).status, 400);
  assert.equal((await as('owner').delete(`/projects/${policies.id}/protected_branches/main`)).status, 403);

  await sent(as('owner').put(file, { ...change, branch: 'open', start_branch: 'main' }));
  await addMergeRequest({ ...here, project: { ...here.project, id: policies.id } }, { source_branch: 'open' }, 'owner');
  await settleMergeRequests(here);
  const merge = `/projects/${policies.id}/merge_requests/1`;
  assert.equal((await as('owner').put(`${merge}/merge`)).status, 405);
  await as('owner').post(`/projects/${policies.id}/members`, { user_id: here.people.maintainer.id, access_level: 40 });
  assert.equal((await as('maintainer').post(`${merge}/approve`)).status, 201);
  assert.equal((await as('owner').put(`${merge}/merge`)).status, 200);
  await performQueued(here.services, [readSecurityPolicies]);
  await settleMergeRequests(here);
  assert.deepEqual(await listed(here), []);

  await pushPolicies(here, policies, approvalPolicy() + settings);
  assert.equal((await as('owner').put(file, change)).status, 400);
  assert.equal((await as('owner').delete(linkOf(`/groups/${group.id}`))).status, 204);
  assert.equal((await as('owner').put(file, change)).status, 200);
});

test('what is hidden from those who write a policy is named like what does not exist', async () => {
  const { here, policies } = await worldWithPolicies(approvalPolicy());
  const { as, people } = here;
  const hidden = await sent(as('outsider').post('/projects', { name: 'secret', visibility: 'private' }));
  const closed = await sent(
    as('admin').post('/groups', { name: 'Closed', path: `closed-${here.group.id}`, visibility: 'private' }),
  );
  const errorsOf = async (text: string) => {
    await pushPolicies(here, policies, text);
    return (await listed(here))[0]!.errors;
  };
  const scope = (members: string) => `${approvalPolicy()}    policy_scope: { ${members} }\n`;
  for (const id of [hidden.id, 999_999_999])
    assert.deepEqual(await errorsOf(scope(`projects: { excluding: [{ id: ${id} }] }`)), [
      `The policy 'Four eyes' is about projects that are not in the top-level group: ${id}`,
    ]);
  for (const id of [closed.id, 999_999_999])
    assert.deepEqual(await errorsOf(scope(`groups: { including: [{ id: ${id} }] }`)), [
      `The policy 'Four eyes' is about groups that are not in the top-level group: ${id}`,
    ]);
  const approvers = (text: string) => approvalPolicy().replace('role_approvers: [maintainer]', text);
  for (const id of [closed.id, 999_999_999])
    assert.deepEqual(await errorsOf(approvers(`group_approvers_ids: [${id}]`)), [
      `The policy 'Four eyes' names groups that are not in the top-level group: ${id}`,
    ]);
  // Whoever exists may be named, but does not count where they may not read the project.
  assert.deepEqual(await errorsOf(approvers(`user_approvers: [${people.outsider.username}]`)), []);
  await addMergeRequest(here);
  const { body } = await as('developer').get(`/projects/${here.project.id}/merge_requests/1/approval_state`);
  assert.deepEqual(body.rules[0].eligible_approvers, []);
  assert.equal((await as('owner').put(`/projects/${here.project.id}/merge_requests/1/merge`)).status, 405);
});
