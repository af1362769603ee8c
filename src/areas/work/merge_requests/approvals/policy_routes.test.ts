import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addMergeRequest, settleMergeRequests, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import {
  addPolicyProject,
  approvalPolicy,
  pushPolicies,
  worldWithPolicies,
} from '../../../../../test/support/policies.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { readRecord } from '../../../../advisories/records.ts';
import { readCommitDependencies } from '../../../code/dependencies/index.ts';
import { applyAdvisories, storeAdvisories } from '../../../code/vulnerabilities/index.ts';
import { mergeReady } from '../merging/jobs.ts';

const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;
const statusOf = async (here: World, iid = 1) =>
  (await here.as('maintainer').get(urlOf(here, iid))).body.detailed_merge_status;
const merge = async (here: World, by: Persona = 'owner') => (await here.as(by).put(`${urlOf(here)}/merge`)).status;
const approve = async (here: World, by: Persona) => (await here.as(by).post(`${urlOf(here)}/approve`)).status;

test('a policy requires approvals of merge requests that are open already, and of their merge in every way', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await addMergeRequest(here);
  assert.equal(await statusOf(here), 'mergeable');
  const policies = await addPolicyProject(here);
  const link = `/projects/${project.id}/security_policy_project`;
  await as('owner').put(link, { project_id: policies.id });
  await pushPolicies(here, policies, approvalPolicy());

  assert.equal(await statusOf(here), 'security_policy_violations');
  assert.equal(await merge(here), 405);
  const { rules } = (await as('developer').get(`${urlOf(here)}/approval_state`)).body;
  const [rule] = rules;
  assert.deepEqual(
    [rules.length, rule.id, rule.name, rule.rule_type, rule.report_type, rule.approvals_required, rule.approved],
    [1, null, 'Four eyes', 'report_approver', 'any_merge_request', 1, false],
  );
  assert.deepEqual(rule.policy, {
    ...{ name: 'Four eyes', project: policies.full_path },
    reasons: ['Each merge request into the branch needs it.'],
  });
  assert.deepEqual((await as('developer').get(`/projects/${project.id}/approval_rules`)).body, []);

  // It is among the rules of the merge request, where nobody can change it.
  const url = `${urlOf(here)}/approval_rules`;
  assert.equal((await as('owner').post(url, { name: 'Mine', approvals_required: 0 })).status, 201);
  const listed = await as('owner').get(url);
  assert.deepEqual(
    listed.body.map((each: Record<string, unknown>) => [each.name, each.rule_type, each.report_type]),
    [
      ['Mine', 'regular', null],
      ['Four eyes', 'report_approver', 'any_merge_request'],
    ],
  );
  const [mine, policy] = listed.body;
  assert.deepEqual([policy.id, policy.policy.project], [null, policies.full_path]);
  const next = await as('owner').get(url, { per_page: 1, page: 2 });
  assert.deepEqual([next.body[0].name, next.headers.get('x-total')], ['Four eyes', '2']);
  assert.equal((await as('owner').put(`${url}/null`, { approvals_required: 0 })).status, 400);
  assert.equal((await as('owner').delete(`${url}/${mine.id}`)).status, 204);
  assert.equal(await statusOf(here), 'security_policy_violations');

  // An auto-merge waits, and goes on with the approval.
  const waiting = await as('owner').put(`${urlOf(here)}/merge`, { auto_merge: true });
  assert.equal(waiting.body.merge_when_pipeline_succeeds, true);
  await performQueued(here.services, [mergeReady]);
  assert.equal((await as('owner').get(urlOf(here))).body.state, 'opened');
  assert.equal(await approve(here, 'owner'), 201);
  assert.equal(await statusOf(here), 'security_policy_violations', 'owners are no maintainers');
  assert.equal(await approve(here, 'maintainer'), 201);
  await performQueued(here.services, [mergeReady]);
  await settleMergeRequests(here);
  assert.equal((await as('owner').get(urlOf(here))).body.state, 'merged');
});

test('a policy that changes or ends counts from then on, and the target decides which policies there are', async () => {
  const { here, policies, link } = await worldWithPolicies(approvalPolicy());
  const { as, project } = here;
  await addMergeRequest(here);
  assert.equal(await statusOf(here), 'security_policy_violations');
  assert.equal(await approve(here, 'maintainer'), 201);
  assert.equal(await statusOf(here), 'mergeable');
  await pushPolicies(here, policies, approvalPolicy().replace('[maintainer]', '[owner]'));
  assert.equal(await statusOf(here), 'security_policy_violations', 'other people are asked now');
  assert.equal(await merge(here), 405);

  await as('maintainer').post(`/projects/${project.id}/repository/branches`, { branch: 'other', ref: 'main' });
  const one = await as('maintainer').put(urlOf(here), { target_branch: 'other' });
  assert.equal(one.status, 200);
  await settleMergeRequests(here);
  assert.equal(await statusOf(here), 'mergeable', 'the other branch is not protected');
  await as('maintainer').post(`/projects/${project.id}/protected_branches`, { name: 'other' });
  assert.equal(await statusOf(here), 'security_policy_violations');
  await as('maintainer').put(urlOf(here), { target_branch: 'main' });
  await settleMergeRequests(here);
  assert.equal(await merge(here), 405);

  // A file with errors changes nothing, and without the policy nothing is asked.
  await pushPolicies(here, policies, 'approval_policy: 3\n');
  assert.equal(await statusOf(here), 'security_policy_violations');
  assert.equal((await as('owner').delete(link)).status, 204);
  assert.equal(await statusOf(here), 'mergeable');
});

test('settings of policies win over those of the project', async () => {
  const settings = `    approval_settings:
      prevent_approval_by_author: true
      remove_approvals_with_new_commit: true
`;
  const { here, policies } = await worldWithPolicies(
    approvalPolicy().replace('branch_type: protected', 'branches: [main]'),
  );
  const { as, project } = here;
  const loose = { merge_requests_author_approval: true, reset_approvals_on_push: false };
  await as('maintainer').post(`/projects/${project.id}/approvals`, loose);
  await addMergeRequest(here, {}, 'maintainer');
  assert.equal(await approve(here, 'maintainer'), 201, 'authors may, by the project');
  assert.equal(await statusOf(here), 'mergeable');
  await pushPolicies(here, policies, approvalPolicy() + settings);
  assert.equal(await statusOf(here), 'security_policy_violations', 'authors may not, by the policy');
  await as('maintainer').post(fileUrl(project, 'more.txt'), { ...onMain, branch: 'topic', content: 'x\n' });
  await settleMergeRequests(here);
  assert.deepEqual((await as('owner').get(`${urlOf(here)}/approvals`)).body.approved_by, []);
});

test('commits that are not signed need the approval', async () => {
  const { here } = await worldWithPolicies(approvalPolicy('type: any_merge_request\n        commits: unsigned'));
  await addMergeRequest(here);
  const { rules } = (await here.as('developer').get(`${urlOf(here)}/approval_state`)).body;
  assert.deepEqual(rules[0].policy.reasons, ['One commit is not signed.']);
  assert.equal(await merge(here), 405);
});

test('what nobody can approve blocks if the policy fails closed, and asks nobody if it fails open', async () => {
  const none = approvalPolicy().replace('role_approvers: [maintainer]', 'user_approvers_ids: [OUTSIDER]');
  const { here, policies } = await worldWithPolicies('approval_policy: []\n');
  const text = none.replace('OUTSIDER', String(here.people.outsider.id));
  await pushPolicies(here, policies, text);
  await addMergeRequest(here);
  assert.equal(await statusOf(here), 'security_policy_violations');
  const { invalid_approvers_rules: invalid } = (await here.as('developer').get(`${urlOf(here)}/approvals`)).body;
  assert.deepEqual(invalid, [{ id: null, name: 'Four eyes', rule_type: 'report_approver' }]);
  await pushPolicies(here, policies, `${text}    fallback_behavior: { fail: open }\n`);
  assert.equal(await statusOf(here), 'mergeable');
});

const lockOf = (packages: Record<string, { version: string; license?: string }>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(Object.entries(packages).map(([name, about]) => [`node_modules/${name}`, about])),
  });

/** Adds a branch from main with a lock file. */
async function addLock(here: World, branch: string, content: string) {
  const change = { ...onMain, branch, start_branch: 'main', content };
  const made = await here.as('developer').post(fileUrl(here.project, 'package-lock.json'), change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

test('a merge request that brings a vulnerable dependency needs the approval, also while that is not known', async () => {
  const rule = `type: scan_finding
        scanners: [dependency_scanning]
        vulnerabilities_allowed: 0
        severity_levels: []
        vulnerability_states: []`;
  const { here } = await worldWithPolicies(approvalPolicy(rule), {});
  await addLock(here, 'pears', lockOf({ pear: { version: '1.0.0' } }));
  await addLock(here, 'plums', lockOf({ plum: { version: '1.0.0' } }));
  await addMergeRequest(here, { source_branch: 'pears' });
  await addMergeRequest(here, { source_branch: 'plums', title: 'Plums' });
  const reasons = async (iid = 1) =>
    (await here.as('developer').get(`${urlOf(here, iid)}/approval_state`)).body.rules[0].policy.reasons;
  const unknown = ['The vulnerabilities of the dependencies are not known yet.'];
  assert.deepEqual(await reasons(), unknown);
  assert.equal(await merge(here), 405);
  await reasons(2);
  assert.ok((await performQueued(here.services, [readCommitDependencies])).length > 0);
  assert.deepEqual(await reasons(), unknown, 'there are no advisories');

  const advisory = {
    ...{ id: 'GHSA-1', aliases: ['CVE-2026-7'], summary: 'Rot', modified: '2026-01-01T00:00:00Z' },
    affected: [
      {
        package: { ecosystem: 'npm', name: 'pear' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.0.1' }] }],
      },
    ],
  };
  const { package_version_ids } = await storeAdvisories(here.db, [readRecord(JSON.stringify(advisory))]);
  assert.deepEqual(await reasons(), unknown, 'the packages are not compared with it');
  await applyAdvisories(here.db, package_version_ids);
  assert.deepEqual(await reasons(), ['pear 1.0.0 has CVE-2026-7 (unknown). Upgrade it to 1.0.1.']);
  assert.equal(await statusOf(here), 'security_policy_violations');
  assert.deepEqual(await reasons(2), []);
  assert.equal(await statusOf(here, 2), 'mergeable');

  // Another head has to be looked at again.
  const change = {
    ...onMain,
    branch: 'plums',
    content: lockOf({ plum: { version: '1.0.0' }, pear: { version: '0.9.0' } }),
  };
  await here.as('developer').put(fileUrl(here.project, 'package-lock.json'), change);
  await settleMergeRequests(here);
  assert.deepEqual(await reasons(2), unknown);
  await performQueued(here.services, [readCommitDependencies]);
  assert.deepEqual(await reasons(2), ['pear 0.9.0 has CVE-2026-7 (unknown). Upgrade it to 1.0.1.']);
});

test('a merge request that brings a forbidden license needs the approval', async () => {
  const rule = `type: license_finding
        match_on_inclusion_license: true
        license_types: [AGPL-3.0-only]
        license_states: [newly_detected]`;
  const { here } = await worldWithPolicies(approvalPolicy(rule));
  await addLock(here, 'pears', lockOf({ pear: { version: '1.0.0', license: 'AGPL-3.0-only' } }));
  await addMergeRequest(here, { source_branch: 'pears' });
  const state = async () => (await here.as('developer').get(`${urlOf(here)}/approval_state`)).body.rules[0];
  assert.deepEqual((await state()).policy.reasons, ['The licenses of the dependencies are not known yet.']);
  await performQueued(here.services, [readCommitDependencies]);
  const { report_type, policy } = await state();
  assert.deepEqual([report_type, policy.reasons], ['license_scanning', ['pear 1.0.0 has the license AGPL-3.0-only.']]);
  assert.equal(await merge(here), 405);
});
