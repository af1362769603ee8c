import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest } from '../../../../../test/support/merge_requests.ts';
import { filledWorld, headOf, repositoryIn } from '../../../../../test/support/repository.ts';
import type { World } from '../../../../../test/support/world.ts';
import { allRefs, keepAroundRef } from '../../../../git/index.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';
import { followDeployments } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges, mergeReady, followDeployments];
const iids = ({ body }: { body: { iid: number }[] }) => body.map(({ iid }) => iid).toSorted((a, b) => a - b);

/** Merges a branch of its own into `main`. */
async function merged(here: World, branch: string, parameters = {}): Promise<number> {
  await addBranch(here, branch);
  const { iid } = await addMergeRequest(here, { source_branch: branch, title: branch });
  await performQueued(here.services, jobs);
  const done = await here.as('maintainer').put(`/projects/${here.project.id}/merge_requests/${iid}/merge`, parameters);
  assert.equal(done.status, 200, JSON.stringify(done.body));
  await performQueued(here.services, jobs);
  return iid;
}

async function deployed(here: World, environment: string, fields = {}): Promise<{ id: number; finished_at: string }> {
  const sha = await headOf(here);
  const given = { environment, sha, ref: 'main', tag: false, status: 'success', ...fields };
  const { status, body } = await here.as('developer').post(`/projects/${here.project.id}/deployments`, given);
  assert.equal(status, 201, JSON.stringify(body));
  await performQueued(here.services, jobs);
  return body;
}

test('a successful deployment links the merge requests that are new in its environment', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const brought = async ({ id }: { id: number }, filters = {}) =>
    iids(await as('reporter').get(`/projects/${project.id}/deployments/${id}/merge_requests`, filters));
  const listed = async (filters: Record<string, unknown>) =>
    iids(await as('reporter').get(`/projects/${project.id}/merge_requests`, filters));
  const shown = async (iid: number) =>
    (await as('reporter').get(`/projects/${project.id}/merge_requests/${iid}`)).body.first_deployed_to_production_at;

  const first = await merged(here, 'first');
  const squashed = await merged(here, 'squashed', { squash: true });
  await addBranch(here, 'open');
  await addMergeRequest(here, { source_branch: 'open', title: 'open' });
  const staging = await deployed(here, 'staging');
  assert.deepEqual(await brought(staging), [first, squashed]);
  assert.deepEqual(await brought(staging, { search: 'squash' }), [squashed]);
  assert.equal(await shown(first), null);

  const third = await merged(here, 'third');
  const again = await deployed(here, 'staging');
  assert.deepEqual(await brought(again), [third]);
  const failed = await deployed(here, 'production', { status: 'failed' });
  assert.deepEqual(await brought(failed), []);
  const production = await deployed(here, 'production');
  assert.deepEqual(await brought(production), [first, squashed, third]);
  assert.equal(await shown(first), production.finished_at);
  assert.deepEqual(await brought(await deployed(here, 'production')), []);

  assert.deepEqual(await listed({ environment: 'staging' }), [first, squashed, third]);
  assert.deepEqual(await listed({ environment: 'moon' }), []);
  // Replies have fewer digits than the rows.
  const later = new Date(Date.parse(staging.finished_at) + 1).toISOString();
  assert.deepEqual(await listed({ environment: 'staging', deployed_after: later }), [third]);
  assert.deepEqual(await listed({ deployed_before: '2020-01-01T00:00:00Z' }), []);

  assert.equal((await as('guest').get(`/projects/${project.id}/deployments/${staging.id}/merge_requests`)).status, 403);
  await as('owner').put(`/projects/${project.id}`, { merge_requests_access_level: 'disabled' });
  const disabled = await as('reporter').get(`/projects/${project.id}/deployments/${staging.id}/merge_requests`);
  assert.equal(disabled.status, 403);
});

test('users who may not read environments cannot infer deployments from merge requests', async () => {
  const here = await filledWorld();
  const { as, project, group } = here;
  const base = `/projects/${project.id}`;
  for (const path of [`/groups/${group.id}`, base])
    assert.equal((await as('owner').put(path, { visibility: 'public' })).status, 200);
  const iid = await merged(here, 'first');
  const { finished_at } = await deployed(here, 'production');
  const filters = [
    { environment: 'production' },
    { deployed_after: '2020-01-01T00:00:00Z' },
    { deployed_before: '2999-01-01' },
  ];
  const learned = async (persona: 'anonymous' | 'outsider' | 'guest' | 'reporter') => {
    const lists = filters.flatMap((filter) => [base, `/groups/${group.id}`, ''].map((path) => ({ path, filter })));
    const found = await Promise.all(
      lists.map(({ path, filter }) => as(persona).get(`${path}/merge_requests`, { scope: 'all', ...filter })),
    );
    const { body } = await as(persona).get(`${base}/merge_requests/${iid}`);
    return [
      found.some(({ status, body: rows }) => status === 200 && rows.length > 0),
      body.first_deployed_to_production_at,
    ];
  };
  assert.deepEqual(await learned('outsider'), [true, finished_at]);
  assert.deepEqual(await learned('anonymous'), [false, null]);
  await as('owner').put(base, { environments_access_level: 'private' });
  for (const persona of ['anonymous', 'outsider'] as const) assert.deepEqual(await learned(persona), [false, null]);
  assert.deepEqual(await learned('guest'), [true, finished_at]);
  await as('owner').put(base, { visibility: 'private' });
  assert.deepEqual(await learned('reporter'), [true, finished_at]);
});

test('a merge request into another branch is not linked, and the commit of a deployment is kept', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  await merged(here, 'first');
  await addBranch(here, 'stable');
  const sha = await headOf(here, 'stable');
  const { id } = await deployed(here, 'production', { ref: 'stable', sha });
  assert.deepEqual(iids(await as('reporter').get(`/projects/${project.id}/deployments/${id}/merge_requests`)), []);
  assert.equal((await allRefs(repositoryIn(here))).get(keepAroundRef(sha!)), sha);
});
