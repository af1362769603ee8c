/** Pushing to approved merge requests and to a file of policies until the server is killed: nothing is merged by what was evaluated before. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { policyPath } from '../../src/areas/code/security_policies/index.ts';
import type { Client } from '../support/client.ts';
import { approvalPolicy } from '../support/policies.ts';
import { fileUrl } from '../support/repository.ts';
import { asked, type Fate, type Project, type Round } from './writers.ts';

/** What is guarded by policies, and what was tried. */
export interface Guarded {
  project: Project;
  policies: Project;
  /** Merge requests that were approved and then pushed to; their approvals have ended with the push. */
  pushed: { iid: number; fate: Fate }[];
  /** How many of them were looked at, and how often. */
  seen: number;
  looks: number;
}

const guarding = (name: string): string => `${approvalPolicy()
  .replace('Four eyes', name)
  .replace('role_approvers: [maintainer]', 'role_approvers: [owner]')}    approval_settings:
      remove_approvals_with_new_commit: true
`;

const writtenTo = (content: string, branch = 'main') => ({ branch, commit_message: 'Write', content });

/** Two projects, of which one has the policies of the other. */
export async function openGuarded(api: Client): Promise<Guarded> {
  const [project, policies] = await Promise.all(
    ['guarded', 'guarding'].map(async (name) => {
      const made = await api.post('/projects', { name, initialize_with_readme: true });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return made.body as Project;
    }),
  );
  const guarded = { project: project!, policies: policies!, pushed: [], seen: 0, looks: 0 };
  const approvals = { merge_requests_author_approval: true, reset_approvals_on_push: false };
  assert.equal((await api.post(`/projects/${guarded.project.id}/approvals`, approvals)).status, 201);
  const link = `/projects/${guarded.project.id}/security_policy_project`;
  assert.equal((await api.put(link, { project_id: guarded.policies.id })).status, 200);
  assert.equal((await api.post(fileUrl(guarded.policies, policyPath), writtenTo(guarding('Start')))).status, 201);
  for (let left = 100; left > 0 && (await inForce(api, guarded)) !== 'Start'; left--) await sleep(100);
  assert.equal(await inForce(api, guarded), 'Start');
  return guarded;
}

const inForce = async (api: Client, { project }: Guarded): Promise<string | undefined> =>
  (await api.get(`/projects/${project.id}/security_policies`)).body[0]?.name;

/** A merge request that is approved. @returns its number, undefined if the server is gone */
async function approved(api: Client, { project }: Guarded, round: Round, branch: string): Promise<number | undefined> {
  const url = `/projects/${project.id}/merge_requests`;
  const first = { ...writtenTo(branch, branch), start_branch: 'main' };
  if ((await asked(round, branch, api.post(fileUrl(project, `${branch}.txt`), first))).fate !== 'done')
    return undefined;
  const wanted = { source_branch: branch, target_branch: 'main', title: branch };
  const { iid } = await asked(round, branch, api.post(url, wanted));
  if (iid === undefined) return undefined;
  return (await asked(round, branch, api.post(`${url}/${iid}/approve`))).fate === 'done' ? iid : undefined;
}

/** Approves merge requests, pushes to them, and tries to merge them at once; between them, the file of policies changes. */
export async function pushPastApprovals(api: Client, guarded: Guarded, round: Round): Promise<void> {
  const { project, policies, pushed } = guarded;
  for (let count = 0; !round.isOver; count++) {
    const branch = `guarded-${round.number}-${count}`;
    const iid = await approved(api, guarded, round, branch);
    if (iid === undefined) continue;
    const tried = { iid, fate: 'unknown' as Fate };
    pushed.push(tried);
    tried.fate = (
      await asked(round, branch, api.post(fileUrl(project, `${branch}-2.txt`), writtenTo('2', branch)))
    ).fate;
    if (tried.fate !== 'done') continue;
    const merge = await api.put(`/projects/${project.id}/merge_requests/${iid}/merge`).catch(() => undefined);
    if (merge && merge.status < 300) assert.fail(`${branch} was merged by the approval of another version`);
    if (count % 3 === 0)
      await asked(round, branch, api.put(fileUrl(policies, policyPath), writtenTo(guarding(branch))));
  }
}

/** Nothing is merged by an old approval, also now, the newest file is in force, and what is approved can be merged. The jobs have ended. */
export async function inspectGuarded(api: Client, guarded: Guarded): Promise<void> {
  const { project, policies, pushed } = guarded;
  const url = `/projects/${project.id}/merge_requests`;
  for (const { iid, fate } of pushed.slice(guarded.seen)) {
    if (fate === 'done') assert.notEqual((await api.put(`${url}/${iid}/merge`)).status, 200, `!${iid}`);
    assert.equal((await api.get(`${url}/${iid}`)).body.state, 'opened', `!${iid}`);
  }
  const file = await api.get(fileUrl(policies, policyPath), { ref: 'main' });
  const text = Buffer.from(file.body.content, 'base64').toString();
  assert.equal(await inForce(api, guarded), /name: (.*)/.exec(text)![1]);
  const whole: Round = { number: 0, isOver: false, onSuccess: () => {}, failures: [] };
  const iid = await approved(api, guarded, whole, `approved-${guarded.looks++}`);
  assert.deepEqual(whole.failures, []);
  const merge = () => api.put(`${url}/${iid}/merge`);
  let merged = await merge();
  for (let left = 50; left > 0 && merged.status !== 200; left--) {
    await sleep(100);
    merged = await merge();
  }
  assert.equal(merged.status, 200, JSON.stringify(merged.body));
  guarded.seen = pushed.length;
}
