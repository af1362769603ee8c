/** Security policies: how soon a push to them is in force in a thousand projects, what they add to merge requests, and whether hostile files keep others waiting. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { approvalPolicy } from '../test/support/policies.ts';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { ms, plainRow, type Row, ratesRow, timesRow } from './table.ts';

/** BENCH_PROJECTS makes the group smaller, to see whether it runs. */
const projects = Number(process.env.BENCH_PROJECTS ?? 1_000);
const policies = 5;
const mergeRequests = 20;
const turns = 20;
const files = 10;
const headers = { 'private-token': token };

const url = '.gitlab%2Fsecurity-policies%2Fpolicy.yml';
const one = approvalPolicy().slice('approval_policy:\n'.length);
/** As many policies as a file may have. @param version part of their names */
const fileOf = (version: string): string =>
  `approval_policy:\n${Array.from({ length: policies }, (_, at) => one.replace('Four eyes', `${version} ${at}`)).join('')}`;

type Api = Instance['api'];

async function sent(answer: ReturnType<Api['post']>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

const writtenTo = (content: string) => ({ branch: 'main', commit_message: 'Write', content });

/** Does something for each number, eight at once. */
async function eightAtOnce(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** A project with open merge requests. */
async function withMergeRequests(api: Api, name: string, namespace_id: number): Promise<number> {
  const { id } = await sent(api.post('/projects', { name, namespace_id, initialize_with_readme: true }));
  for (let at = 0; at < mergeRequests; at++) {
    const branch = `topic-${at}`;
    const change = { ...writtenTo(branch), branch, start_branch: 'main' };
    await sent(api.post(`/projects/${id}/repository/files/${branch}.txt`, change));
    await sent(
      api.post(`/projects/${id}/merge_requests`, { source_branch: branch, target_branch: 'main', title: branch }),
    );
  }
  return id;
}

const namesIn = async (api: Api, project_id: number): Promise<string[]> =>
  (await sent(api.get(`/projects/${project_id}/security_policies`))).map(({ name }: { name: string }) => name);

/** Waits until the policies of a project have a version. */
async function inForce(api: Api, project_id: number, version: string): Promise<void> {
  while (!(await namesIn(api, project_id)).some((name) => name.startsWith(version))) await sleep(20);
}

/** The aliases of a file of 256 KiB stand for as much as a file may. */
function hostile(turn: number): string {
  const lines = [`a: &a [${Array.from({ length: 900 }, () => turn).join(', ')}]`];
  for (let at = 0; Buffer.byteLength(lines.join('\n')) < 245 * 1024; at++)
    lines.push(`${'k'.repeat(60)}${at}: [${Array.from({ length: 8 }, () => '*a').join(', ')}]`);
  return lines.join('\n');
}

/** The longest time in which the server came to nothing else while files were pushed and read. */
async function blockWhile(instance: Instance, file: string, content: (turn: number) => string): Promise<number> {
  await instance.longestBlock_ms();
  for (let turn = 0; turn < files; turn++) {
    await sent(instance.api.put(file, writtenTo(content(turn))));
    await sleep(1_000);
  }
  return instance.longestBlock_ms();
}

/** @param folder for the data of an instance */
export async function measureSecurityPolicies(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'security-policies'));
  const { api } = instance;
  try {
    const group = await sent(api.post('/groups', { name: 'Orchard', path: 'orchard' }));
    const ids: number[] = [];
    await eightAtOnce(projects, async (at) => {
      ids.push((await sent(api.post('/projects', { name: `tree-${at}`, namespace_id: group.id }))).id);
    });
    const source = await sent(
      api.post('/projects', { name: 'policies', namespace_id: group.id, initialize_with_readme: true }),
    );
    await sent(api.put(`/groups/${group.id}/security_policy_project`, { project_id: source.id }));
    const file = `/projects/${source.id}/repository/files/${url}`;
    await sent(api.post(file, writtenTo(fileOf('start'))));
    await inForce(api, ids[0]!, 'start');
    const guarded = await withMergeRequests(api, 'guarded', group.id);
    const meadow = await sent(api.post('/groups', { name: 'Meadow', path: 'meadow' }));
    const free = await withMergeRequests(api, 'free', meadow.id);
    await sent(api.post(`/projects/${free}/approval_rules`, { name: 'Eyes', approvals_required: 1 }));

    const begin_ms = performance.now();
    await sent(api.put(file, writtenTo(fileOf('second'))));
    await inForce(api, ids[0]!, 'second');
    const first_ms = performance.now() - begin_ms;
    await eightAtOnce(ids.length, (at) => inForce(api, ids[at]!, 'second'));
    const all_ms = performance.now() - begin_ms;

    const reading = (id: number) => (turn: number) =>
      sent(api.get(`/projects/${id}/merge_requests/${1 + (turn % mergeRequests)}`));
    const [one_ms, limit_ms] = await inTurn(turns, reading(guarded), reading(free));
    const listsOf = (id: number) => load(instance, [`/api/v4/projects/${id}/merge_requests`], { headers });
    // The first load makes the code fast that both need.
    await listsOf(guarded);
    const lists = await listsOf(guarded);
    const without = await listsOf(free);

    const usual = await blockWhile(instance, file, (turn) => hostile(turn).replaceAll(/^/gm, '# '));
    const block = await blockWhile(instance, file, hostile);
    return [
      plainRow(`policies are in force in the first of ${projects} projects`, ms(first_ms), '≤ 60 s'),
      plainRow(`policies are shown in all ${projects} projects`, ms(all_ms), '≤ 60 s'),
      timesRow('a merge request with 5 policies, beside one with a rule', one_ms!, limit_ms!, '≤ 1.5×'),
      ratesRow('merge requests of a project with 5 policies, beside one without', lists, without, '≥ 90 %'),
      plainRow(
        `${files} hostile files of policies: longest block, of the same as comments ${ms(usual)}`,
        ms(block),
        '≤ 50 ms',
      ),
    ];
  } finally {
    await instance.stop();
  }
}
