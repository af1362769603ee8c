/** How many statements pages take at most, so that one that begins to ask for more is noticed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { readCommitDependencies } from '../../src/areas/code/dependencies/index.ts';
import { prepareMergeRequest } from '../../src/areas/work/merge_requests/index.ts';
import { browserOf } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { performQueued } from '../support/jobs.ts';
import { addMergeRequest, settleMergeRequests, worldWithTopic } from '../support/merge_requests.ts';
import { approvalPolicy, worldWithPolicies } from '../support/policies.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

let statements = 0;
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  statements += 1;
  return Reflect.apply(query, this, args);
} as typeof query;

/** An issue and a merge request with a comment each, of which the texts refer to things of all kinds. */
async function fill(here: World): Promise<{ issue: number; merge_request: number; sha: string }> {
  const { as, project, people, services } = here;
  const description = `See #1 and @${people.guest.username}`;
  const { iid: issue } = await addIssue(here, { title: 'Prune', description });
  const { iid: merge_request } = await addMergeRequest(here, { description });
  for (const [kind, iid] of [
    ['issues', issue],
    ['merge_requests', merge_request],
  ] as const) {
    const commented = await as('owner').post(`/projects/${project.id}/${kind}/${iid}/notes`, { body: 'See !1' });
    assert.equal(commented.status, 201);
  }
  await performQueued(services, [prepareMergeRequest]);
  const { body } = await as('developer').get(`/projects/${project.id}/repository/commits`);
  return { issue, merge_request, sha: body[0].id };
}

test('pages keep within their number of statements', async () => {
  const here = await worldWithTopic();
  const { issue, merge_request, sha } = await fill(here);
  const at = `/${here.project.full_path}`;
  const mergeRequest = `${at}/-/merge_requests/${merge_request}`;
  const most: Readonly<Record<string, number>> = {
    '/': 16,
    '/explore': 4,
    '/dashboard/todos': 2,
    [`/groups/${here.group.full_path}`]: 12,
    [`/${here.people.developer.username}`]: 14,
    [at]: 8,
    [`${at}/-/issues`]: 5,
    [`${at}/-/issues/${issue}`]: 18,
    [`${at}/-/issues/new`]: 8,
    [`${at}/-/issues/${issue}/edit`]: 7,
    [`${at}/-/merge_requests`]: 6,
    [`${at}/-/merge_requests/new?merge_request[source_branch]=topic`]: 8,
    [mergeRequest]: 23,
    [`${mergeRequest}/commits`]: 9,
    [`${mergeRequest}/diffs`]: 14,
    [`${mergeRequest}/edit`]: 10,
    [`${at}/-/tree/main`]: 3,
    [`${at}/-/blob/main/README.md`]: 3,
    [`${at}/-/blame/main/README.md`]: 3,
    [`${at}/-/find_file/main`]: 3,
    [`${at}/-/edit/main/README.md`]: 7,
    [`${at}/-/network/main`]: 5,
    [`${at}/-/graphs/main`]: 3,
    [`${at}/-/activity`]: 7,
    [`${at}/-/commits/main`]: 3,
    [`${at}/-/commit/${sha}`]: 6,
    [`${at}/-/compare/main...topic`]: 1,
    [`${at}/-/branches`]: 2,
    [`${at}/-/tags`]: 2,
    [`${at}/-/wikis/pages`]: 2,
    [`${at}/-/project_members`]: 9,
    '/groups/new': 1,
    '/-/user_settings/ssh_keys': 2,
    '/-/user_settings/personal_access_tokens': 3,
    '/-/profile/preferences': 3,
  };
  const browser = await browserOf(here, here.people.developer);
  const taken: Record<string, number> = {};
  for (const path of Object.keys(most)) {
    // What is kept while rights do not change is read before.
    await browser.get(path);
    statements = 0;
    assert.equal((await browser.get(path)).status, 200, path);
    taken[path] = statements;
  }
  const above = Object.entries(taken).filter(([path, count]) => count > most[path]!);
  assert.deepEqual(above, []);
});

test('a merge request that policies are about takes at most one statement more than one with approval rules, in each part of its page', async () => {
  const counted = async (here: World): Promise<number[]> => {
    const { as, project } = here;
    const paths = [`/projects/${project.id}/merge_requests/1`, `/${project.full_path}/-/merge_requests/1`];
    const browser = await browserOf(here, here.people.developer);
    const read = (path: string) => (path.startsWith('/projects') ? as('developer').get(path) : browser.get(path));
    const taken: number[] = [];
    for (const path of paths) {
      await read(path);
      statements = 0;
      assert.equal((await read(path)).status, 200, path);
      taken.push(statements);
    }
    return taken;
  };
  const plain = await worldWithTopic();
  const eyes = { name: 'Eyes', approvals_required: 1, user_ids: String(plain.people.maintainer.id) };
  await sent(plain.as('owner').post(`/projects/${plain.project.id}/approval_rules`, eyes));
  const { here } = await worldWithPolicies(approvalPolicy());
  const rule = `type: scan_finding
        scanners: [dependency_scanning]
        vulnerabilities_allowed: 0
        severity_levels: []
        vulnerability_states: []
      - branch_type: protected
        type: license_finding
        match_on_inclusion_license: true
        license_types: [MIT]
        license_states: [detected]`;
  const { here: scanned } = await worldWithPolicies(approvalPolicy(rule));
  const of: number[][] = [];
  for (const each of [plain, here, scanned]) {
    await fill(each);
    await settleMergeRequests(each);
    await each.as('developer').get(`/projects/${each.project.id}/merge_requests/1`);
    await performQueued(each.services, [readCommitDependencies]);
    of.push(await counted(each));
  }
  const [usual, always, onFindings] = of as [number[], number[], number[]];
  assert.ok(
    always.every((count, index) => count <= usual[index]!),
    `${of.join(' | ')}: rules on each merge request`,
  );
  // The page asks for the merge request and for its approvals.
  const more = onFindings.map((count, index) => count - usual[index]!);
  assert.ok(more[0]! <= 1 && more[1]! <= 2, `${of.join(' | ')}: rules on vulnerabilities and licenses`);
});
