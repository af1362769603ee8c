/** Nobody merges past a security policy, whichever way they take. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../../test/support/browser.ts';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest, settleMergeRequests } from '../../../../../test/support/merge_requests.ts';
import { approvalPolicy, pushPolicies, worldWithPolicies } from '../../../../../test/support/policies.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import { sent } from '../../../../../test/support/sent.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { mergeByCommand, mergeReady } from './jobs.ts';

const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;
const shown = async (here: World, iid = 1) => (await here.as('owner').get(urlOf(here, iid))).body;
const merge = async (here: World, iid = 1) => (await here.as('owner').put(`${urlOf(here, iid)}/merge`)).status;
const approve = async (here: World, by: Persona = 'maintainer', iid = 1) =>
  (await here.as(by).post(`${urlOf(here, iid)}/approve`)).status;
const branchesUrl = ({ project }: World) => `/projects/${project.id}/repository/branches`;
const headOf = async (here: World, branch: string): Promise<string> =>
  (await here.as('owner').get(`${branchesUrl(here)}/${branch}`)).body.commit.id;

/** A policy that keeps protected branches to merge requests, by what it sets. */
const withSettings = (...settings: string[]) =>
  `${approvalPolicy()}    approval_settings:\n${settings.map((name) => `      ${name}: true\n`).join('')}`;

test('neither the API, nor a page, a quick action or an auto-merge merges without the approval', async () => {
  const { here } = await worldWithPolicies(approvalPolicy());
  const { as, project, people, services } = here;
  await addMergeRequest(here);
  assert.equal(await merge(here), 405);

  const owner = await browserOf(here, people.owner);
  const page = `/${project.full_path}/-/merge_requests/1`;
  assert.equal((await owner.send(page, 'merge', {})).status, 405);
  assert.equal((await owner.send(page, 'auto_merge', {})).status, 303, 'it waits');
  await as('owner').post(`${urlOf(here)}/notes`, { body: 'Now!\n/merge' });
  await performQueued(services, [mergeByCommand]);
  const status = { state: 'success', ref: 'topic' };
  await sent(as('developer').post(`/projects/${project.id}/statuses/${await headOf(here, 'topic')}`, status));
  await performQueued(services, [mergeReady]);
  const waiting = await shown(here);
  assert.deepEqual([waiting.state, waiting.merge_when_pipeline_succeeds], ['opened', true]);
  assert.equal(await approve(here), 201);
  await performQueued(services, [mergeReady]);
  assert.equal((await shown(here)).state, 'merged');
});

test('pushes, commits and cherry-picks do not bring changes past the merge request', async () => {
  const { here } = await worldWithPolicies(withSettings('prevent_pushing_and_force_pushing'));
  const { as, project, people, url } = here;
  await addMergeRequest(here);
  const before = await headOf(here, 'main');
  const refusal = "Push to branch 'main' does not follow the policy 'Four eyes'";
  const { run } = await gitClient();
  const cloned = await run(['clone', '-q', remoteOf(url, project.full_path, people.owner.token), 'work']);
  assert.equal(cloned.code, 0, cloned.stderr);
  for (const refs of [
    ['origin/topic:main'],
    ['+origin/topic:main'],
    ['-o', 'merge_request.create', 'origin/topic:main'],
  ]) {
    const pushed = await run(['push', 'origin', ...refs], { at: 'work' });
    assert.equal(pushed.code, 1, refs.join());
    assert.ok(pushed.stderr.includes(refusal), pushed.stderr);
  }
  const repository = `/projects/${project.id}/repository`;
  const topic = await headOf(here, 'topic');
  const answers = [
    await as('owner').post(fileUrl(project, 'more.txt'), { ...onMain, content: 'x' }),
    await as('owner').post(`${repository}/commits/${topic}/cherry_pick`, { branch: 'main' }),
    await as('owner').post(`${repository}/commits/${before}/revert`, { branch: 'main' }),
    await as('owner').post(`${repository}/commits`, {
      ...{ branch: 'main', commit_message: 'Sow', force: true, start_branch: 'topic' },
      actions: [{ action: 'create', file_path: 'sown.txt', content: 'x' }],
    }),
  ];
  for (const { status, body } of answers) assert.equal(status, 400, JSON.stringify(body));
  assert.equal(await headOf(here, 'main'), before);
  assert.equal((await shown(here)).state, 'opened');
  assert.equal(await approve(here), 201);
  assert.equal(await merge(here), 200, 'the merge itself is no push');
});

test('an approval for one target does not open another one', async () => {
  const strict = approvalPolicy()
    .replace('branch_type: protected', 'branches: [release]')
    .replace('Four eyes', 'Release')
    .replace('[maintainer]', '[owner]')
    .replace('approval_policy:\n', '');
  const { here } = await worldWithPolicies(approvalPolicy() + strict);
  const { as } = here;
  await as('owner').post(branchesUrl(here), { branch: 'release', ref: 'main' });
  await addMergeRequest(here);
  assert.equal(await approve(here), 201);
  assert.equal((await shown(here)).detailed_merge_status, 'mergeable');
  await as('developer').put(urlOf(here), { target_branch: 'release' });
  assert.equal(await merge(here), 405);
  await settleMergeRequests(here);
  // The approvals of the other version are gone; those of this one count for other people.
  assert.equal(await approve(here), 201);
  assert.equal((await shown(here)).detailed_merge_status, 'security_policy_violations');
  assert.equal(await merge(here), 405);
  await as('developer').put(urlOf(here), { target_branch: 'main' });
  await settleMergeRequests(here);
  assert.equal(await merge(here), 405);
  assert.equal(await approve(here), 201);
  assert.equal(await merge(here), 200);
});

test('a branch that is deleted and made again is judged as what it is now', async () => {
  const { here } = await worldWithPolicies(withSettings('remove_approvals_with_new_commit'));
  const { as } = here;
  await addBranch(here, 'other');
  await as('owner').post(branchesUrl(here), { branch: 'release', ref: 'main' });
  await sent(as('owner').post(`/projects/${here.project.id}/protected_branches`, { name: 'rel*' }));
  await addMergeRequest(here, { target_branch: 'release' });
  assert.equal(await approve(here), 201);
  assert.equal((await shown(here)).detailed_merge_status, 'mergeable');
  // Other commits under the name of the source branch, before and after they are noticed.
  assert.equal((await as('developer').delete(`${branchesUrl(here)}/topic`)).status, 204);
  await sent(as('developer').post(branchesUrl(here), { branch: 'topic', ref: 'other' }));
  assert.equal(await merge(here), 405);
  await settleMergeRequests(here);
  assert.equal(await merge(here), 405);
  assert.deepEqual((await as('owner').get(`${urlOf(here)}/approvals`)).body.approved_by, []);
  // The target by the same name is protected by the same pattern.
  assert.equal((await as('owner').delete(`${branchesUrl(here)}/release`)).status, 204);
  assert.notEqual(await merge(here), 200);
  await sent(as('owner').post(branchesUrl(here), { branch: 'release', ref: 'main' }));
  await settleMergeRequests(here);
  assert.equal(await merge(here), 405);
});

test('of merges at once only the approved one succeeds, and that once', async () => {
  const { here } = await worldWithPolicies(approvalPolicy());
  await addBranch(here, 'other');
  await addMergeRequest(here);
  await addMergeRequest(here, { source_branch: 'other', title: 'Not approved' });
  assert.equal(await approve(here), 201);
  const statuses = await Promise.all([1, 2, 1, 2, 1, 2].map(async (iid) => [iid, await merge(here, iid)]));
  assert.deepEqual(
    statuses.filter(([, status]) => status === 200).map(([iid]) => iid),
    [1],
  );
  assert.equal((await shown(here, 2)).state, 'opened');
});

test('a policy that becomes stricter while merges are under way stops those that come after it', async () => {
  const { here, policies } = await worldWithPolicies(approvalPolicy());
  const branches = ['a', 'b', 'c', 'd'];
  for (const branch of branches) {
    await addBranch(here, branch);
    const { iid } = await addMergeRequest(here, { source_branch: branch, title: branch });
    assert.equal(await approve(here, 'maintainer', iid), 201);
  }
  const first = merge(here, 1);
  const changed = pushPolicies(here, policies, approvalPolicy().replace('[maintainer]', '[owner]'));
  await Promise.all([first, changed]);
  const later = await Promise.all([2, 3, 4].map((iid) => merge(here, iid)));
  assert.deepEqual(later, [405, 405, 405]);
});

test('what advisories cannot say blocks a policy that fails closed, and passes one that fails open', async () => {
  const rule = `type: scan_finding
        scanners: [dependency_scanning]
        vulnerabilities_allowed: 0
        severity_levels: []
        vulnerability_states: []`;
  const { here, policies } = await worldWithPolicies(approvalPolicy(rule));
  await addMergeRequest(here);
  assert.equal((await shown(here)).detailed_merge_status, 'security_policy_violations');
  assert.equal(await merge(here), 405);
  await pushPolicies(here, policies, `${approvalPolicy(rule)}    fallback_behavior: { fail: open }\n`);
  assert.equal(await merge(here), 200);
});
