import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { approvalPolicy, pushPolicies, worldWithPolicies } from '../../../../test/support/policies.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { Persona, World } from '../../../../test/support/world.ts';
import { controls } from '../../code/compliance_frameworks/index.ts';
import { concludeMerges, mergeByCommand } from '../merge_requests/merging/jobs.ts';

/** Gives the project of a world a framework with one requirement. */
async function demand({ as, group, project }: World, names: readonly string[]): Promise<{ id: number }> {
  const framework = await sent(
    as('owner').post(`/groups/${group.id}/compliance_frameworks`, {
      ...{ name: 'Rules', description: 'What is asked for' },
      requirements: [{ name: 'All of it', controls: names.map((name) => ({ name })) }],
    }),
  );
  await sent(as('owner').put(`/projects/${project.id}/compliance_frameworks`, { framework_ids: [framework.id] }));
  return framework;
}

const statusOf = async ({ as, project }: World) => {
  const { body } = await as('reporter').get(`/projects/${project.id}/compliance_status`);
  return body;
};

/** The names of the controls that the project fails. */
const failedIn = async (here: World): Promise<string[]> =>
  (await statusOf(here)).frameworks[0].requirements[0].failed.map(({ name }: { name: string }) => name);

type Change = (here: World) => Promise<unknown>;
const setting =
  (change: Record<string, unknown>): Change =>
  ({ as, project }) =>
    sent(as('owner').put(`/projects/${project.id}`, change));
const approvalSetting =
  (change: Record<string, unknown>): Change =>
  ({ as, project }) =>
    sent(as('owner').post(`/projects/${project.id}/approvals`, change));
const required =
  (approvals_required: number): Change =>
  async ({ as, project }) => {
    const url = `/projects/${project.id}/approval_rules`;
    for (const { id } of (await as('owner').get(url)).body) await as('owner').delete(`${url}/${id}`);
    await sent(as('owner').post(url, { name: 'Two', approvals_required }));
  };
const protectedBy =
  (allow_force_push: boolean): Change =>
  async ({ as, project }) => {
    for (const name of ['main', 'ma*']) await as('owner').delete(`/projects/${project.id}/protected_branches/${name}`);
    await sent(as('owner').post(`/projects/${project.id}/protected_branches`, { name: 'ma*', allow_force_push }));
  };
const pushRule =
  (change: Record<string, unknown>): Change =>
  async ({ as, project }) => {
    const url = `/projects/${project.id}/push_rule`;
    const { status } = await as('owner').post(url, change);
    if (status !== 201) await sent(as('owner').put(url, change));
  };
const vulnerability =
  (state: string): Change =>
  ({ db, project }) =>
    db
      .insertInto('vulnerabilities')
      .values({ project_id: project.id, cluster: 'CVE-2026-1', name: 'CVE-2026-1', severity: 5, state })
      .onConflict((conflict) => conflict.columns(['project_id', 'cluster']).doUpdateSet({ state }))
      .execute();

/** What a project does to fail each control, and to pass it. */
const cases: Readonly<Record<string, { fails: Change; passes: Change }>> = {
  default_branch_protected: {
    fails: ({ as, project }) => as('owner').delete(`/projects/${project.id}/protected_branches/main`),
    passes: protectedBy(true),
  },
  default_branch_no_force_push: {
    fails: protectedBy(true),
    passes: ({ as, project }) =>
      sent(as('owner').patch(`/projects/${project.id}/protected_branches/ma*`, { allow_force_push: false })),
  },
  minimum_approvals_required_1: { fails: required(0), passes: required(1) },
  minimum_approvals_required_2: { fails: required(1), passes: required(2) },
  merge_request_prevent_author_approval: {
    fails: approvalSetting({ merge_requests_author_approval: true }),
    passes: approvalSetting({ merge_requests_author_approval: false }),
  },
  merge_request_prevent_committers_approval: {
    fails: approvalSetting({ merge_requests_disable_committers_approval: false }),
    passes: approvalSetting({ merge_requests_disable_committers_approval: true }),
  },
  reset_approvals_on_push: {
    fails: approvalSetting({ reset_approvals_on_push: false }),
    passes: approvalSetting({ reset_approvals_on_push: true }),
  },
  push_rules_secrets_prevented: {
    fails: pushRule({ prevent_secrets: false }),
    passes: pushRule({ prevent_secrets: true }),
  },
  signed_commits_required: {
    fails: pushRule({ reject_unsigned_commits: false }),
    passes: pushRule({ reject_unsigned_commits: true }),
  },
  no_open_critical_vulnerabilities: { fails: vulnerability('detected'), passes: vulnerability('dismissed') },
  dependencies_scanned: {
    fails: async () => {},
    passes: ({ db, project }) =>
      db
        .insertInto('dependency_files')
        .values({ project_id: project.id, path: 'yarn.lock', blob_id: '0'.repeat(40), reader_version: 1, count: 1 })
        .execute(),
  },
  project_visibility_not_public: {
    fails: async ({ as, group, project }) => {
      await sent(as('owner').put(`/groups/${group.id}`, { visibility: 'public' }));
      await sent(as('owner').put(`/projects/${project.id}`, { visibility: 'public' }));
    },
    passes: setting({ visibility: 'internal' }),
  },
  pipeline_must_succeed: {
    fails: setting({ only_allow_merge_if_pipeline_succeeds: false }),
    passes: setting({ only_allow_merge_if_pipeline_succeeds: true }),
  },
  error_tracking_enabled: {
    fails: async () => {},
    passes: ({ as, project }) =>
      sent(as('owner').put(`/projects/${project.id}/error_tracking/settings`, { active: true, integrated: true })),
  },
};

test('each control has a project that fails it and one that passes it', async () => {
  assert.deepEqual(Object.keys(cases), [...controls.keys()]);
  const here = await filledWorld();
  await demand(here, [...controls.keys()]);
  for (const [name, { fails, passes }] of Object.entries(cases)) {
    await fails(here);
    assert.ok((await failedIn(here)).includes(name), `${name} fails`);
    await passes(here);
    assert.ok(!(await failedIn(here)).includes(name), `${name} passes`);
  }
  const status = await statusOf(here);
  assert.deepEqual([status.status, await failedIn(here)], ['pass', []]);
});

test('what is not met is said with the page that changes it, to those who read reports', async () => {
  const here = await filledWorld();
  const { as, project, group } = here;
  await demand(here, ['minimum_approvals_required_2']);
  const [listed] = (await as('reporter').get(`/groups/${group.id}/compliance_status`)).body;
  const { checked_at: _, ...status } = await statusOf(here);
  assert.partialDeepStrictEqual(listed, status);
  const web_url = `http://coppice.test/${project.full_path}`;
  assert.deepEqual(status.project, {
    id: project.id,
    name: (await as('owner').get(`/projects/${project.id}`)).body.name,
    path_with_namespace: project.full_path,
    web_url,
  });
  assert.deepEqual(status.frameworks[0].requirements[0].failed, [
    {
      name: 'minimum_approvals_required_2',
      sentence: 'Require at least 2 approvals of merge requests.',
      web_url: `${web_url}/-/settings/approvals`,
    },
  ]);
  for (const [persona, status] of [
    ['guest', 403],
    ['outsider', 404],
    ['anonymous', 401],
  ] as const)
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`])
      assert.equal((await as(persona).get(`${path}/compliance_status`)).status, status);
  await sent(as('owner').put(`/projects/${project.id}/compliance_frameworks`, { framework_ids: [] }));
  assert.equal((await as('reporter').get(`/projects/${project.id}/compliance_status`)).status, 404);
  assert.deepEqual((await as('reporter').get(`/groups/${group.id}/compliance_status`)).body, []);
});

test('a policy for a framework asks for approvals in the projects that have the framework', async () => {
  const { here, policies } = await worldWithPolicies(approvalPolicy());
  const { as, project } = here;
  const { iid } = await addMergeRequest(here);
  const { id } = await demand(here, ['pipeline_must_succeed']);
  await pushPolicies(here, policies, `${approvalPolicy()}    policy_scope: {compliance_frameworks: [{id: ${id}}]}\n`);
  const shown = async () =>
    (await as('maintainer').get(`/projects/${project.id}/merge_requests/${iid}`)).body.detailed_merge_status;
  assert.equal(await shown(), 'security_policy_violations');
  await sent(as('owner').put(`/projects/${project.id}/compliance_frameworks`, { framework_ids: [] }));
  assert.equal(await shown(), 'mergeable');
});

/** Merges the merge request of a world after some people have approved it. */
async function merged(here: World, approvers: readonly Persona[]): Promise<void> {
  const { as, project, services } = here;
  await sent(as('owner').post(`/projects/${project.id}/approvals`, { merge_requests_author_approval: true }));
  const { iid } = await addMergeRequest(here);
  const url = `/projects/${project.id}/merge_requests/${iid}`;
  for (const persona of approvers) await sent(as(persona).post(`${url}/approve`));
  await sent(as('maintainer').put(`${url}/merge`));
  await performQueued(services, [mergeByCommand, concludeMerges]);
}

test('a merge that too few, or its author, have approved is written down', async () => {
  const here = await worldWithTopic();
  const { as, group, project, people } = here;
  await merged(here, ['developer']);
  const { body } = await as('reporter').get(`/groups/${group.id}/compliance_violations`);
  const shown = body.map((each: { reason: string; severity: string; violating_user: { id: number } }) => [
    each.reason,
    each.severity,
    each.violating_user.id,
  ]);
  assert.deepEqual(shown.sort(), [
    ['approved_by_author', 'high', people.developer.id],
    ['approved_by_insufficient_users', 'medium', people.maintainer.id],
  ]);
  assert.equal(body[0].merge_request.web_url, `http://coppice.test/${project.full_path}/-/merge_requests/1`);
  const only = await as('reporter').get(`/groups/${group.id}/compliance_violations`, { reason: 'approved_by_author' });
  assert.equal(only.body.length, 1);
  const url = `/groups/${group.id}/compliance_violations`;
  const first = await as('reporter').get(url, { pagination: 'keyset', per_page: 1 });
  const next = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')![1]!;
  const second = await as('reporter').get(url, { pagination: 'keyset', per_page: 1, cursor: decodeURIComponent(next) });
  assert.deepEqual(
    [...first.body, ...second.body].map(({ id }) => id),
    body.map(({ id }: { id: number }) => id),
  );
  const later = { created_after: new Date(Date.now() + 60_000).toISOString() };
  assert.deepEqual((await as('reporter').get(`/groups/${group.id}/compliance_violations`, later)).body, []);
  assert.equal((await as('guest').get(`/groups/${group.id}/compliance_violations`)).status, 403);
});

test('the chain of custody names the commit, who merged it and who approved', async () => {
  const here = await worldWithTopic();
  const { as, group, project, people } = here;
  await merged(here, ['maintainer', 'owner']);
  assert.deepEqual(
    (await as('reporter').get(`/groups/${group.id}/compliance_violations`)).body.filter(
      ({ reason }: { reason: string }) => reason === 'approved_by_insufficient_users',
    ),
    [],
  );
  const { merge_commit_sha } = (await as('reporter').get(`/projects/${project.id}/merge_requests/1`)).body;
  const { token } = as('reporter');
  const response = await fetch(`${here.url}/api/v4/groups/${group.id}/merge_commit_reports.csv`, {
    headers: { 'private-token': token! },
  });
  const [head, line, end] = (await response.text()).split('\r\n');
  assert.equal(head, 'merge_commit,author,committer,date,merged_by,merge_request,approvers,project');
  const cells = line!.split(',');
  assert.deepEqual(
    [cells[0], cells[4], cells[5], cells[6], cells[7], end],
    [
      merge_commit_sha,
      people.maintainer.username,
      '!1',
      [people.maintainer.username, people.owner.username].sort().join(' '),
      project.full_path,
      '',
    ],
  );
});
