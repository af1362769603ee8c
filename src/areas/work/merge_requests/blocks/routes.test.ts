import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { sent } from '../../../../../test/support/sent.ts';
import type { World } from '../../../../../test/support/world.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';

const urlOf = ({ project }: World, iid: number) => `/projects/${project.id}/merge_requests/${iid}`;
const statusOf = async (here: World, iid: number) =>
  (await here.as('maintainer').get(urlOf(here, iid))).body.detailed_merge_status;

/** Two merge requests of a project. */
async function withTwo() {
  const here = await worldWithTopic();
  const first = await addMergeRequest(here);
  await addBranch(here, 'second');
  const second = await addMergeRequest(here, { source_branch: 'second', title: 'Second' });
  return { here, first, second, blocks: `${urlOf(here, second.iid)}/blocks` };
}

test('a merge request waits until the merge request that blocks it is merged', async () => {
  const { here, first, second, blocks } = await withTwo();
  const { as, project } = here;
  const added = await as('developer').post(blocks, { blocking_merge_request_id: first.id });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { id, blocking_merge_request, blocked_merge_request, project_id } = added.body;
  assert.deepEqual(
    [blocking_merge_request.iid, blocked_merge_request.iid, project_id],
    [first.iid, second.iid, project.id],
  );
  assert.deepEqual((await as('reporter').get(blocks)).body, [added.body]);
  assert.deepEqual((await as('reporter').get(`${blocks}/${id}`)).body, added.body);
  assert.deepEqual((await as('reporter').get(`${urlOf(here, first.iid)}/blockees`)).body, [added.body]);
  assert.equal(await statusOf(here, second.iid), 'merge_request_blocked');
  assert.equal((await as('maintainer').put(`${urlOf(here, second.iid)}/merge`)).status, 405);
  const waiting = await as('maintainer').put(`${urlOf(here, second.iid)}/merge`, { auto_merge: true });
  assert.deepEqual([waiting.status, waiting.body.state], [200, 'opened']);

  await as('developer').put(urlOf(here, first.iid), { state_event: 'close' });
  assert.equal(await statusOf(here, second.iid), 'merge_request_blocked', 'it is closed, not merged');
  await as('developer').put(urlOf(here, first.iid), { state_event: 'reopen' });
  assert.equal((await as('maintainer').put(`${urlOf(here, first.iid)}/merge`)).status, 200);
  await performQueued(here.services, [concludeMerges, mergeReady]);
  assert.equal((await as('reporter').get(urlOf(here, second.iid))).body.state, 'merged');
});

test('cycles, duplicates, and merge requests that the caller may not read or change are refused', async () => {
  const { here, first, second, blocks } = await withTwo();
  const { as } = here;
  await addBranch(here, 'third');
  const third = await addMergeRequest(here, { source_branch: 'third', title: 'Third' });
  await sent(as('developer').post(blocks, { blocking_merge_request_id: first.id }));
  await sent(as('developer').post(`${urlOf(here, third.iid)}/blocks`, { blocking_merge_request_id: second.id }));
  const elsewhere = await worldWithTopic();
  const hidden = await addMergeRequest(elsewhere);
  const refusals = [
    [blocks, { blocking_merge_request_id: first.id }, 409, 'Block already exists'],
    [blocks, { blocking_merge_request_id: second.id }, 400, 'This merge request cannot block itself'],
    [`${urlOf(here, first.iid)}/blocks`, { blocking_merge_request_id: third.id }, 400, 'This block would make a ring'],
    [blocks, { blocking_merge_request_id: hidden.id }, 404, 'Blocking merge request not found'],
    [blocks, { blocking_merge_request_id: 999_999_999 }, 404, 'Blocking merge request not found'],
    [blocks, {}, 400, 'blocking_merge_request_id is missing'],
  ] as const;
  for (const [url, given, status, message] of refusals) {
    const refused = await as('developer').post(url, given);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  const reader = await as('reporter').post(blocks, { blocking_merge_request_id: third.id });
  assert.deepEqual([reader.status, reader.body.message], [403, 'Lacking permissions to update the merge request']);
  const both = await Promise.all([
    as('developer').post(`${urlOf(here, first.iid)}/blocks`, { blocking_merge_request_id: second.id }),
    as('developer').post(blocks, { blocking_merge_request_id: third.id }),
  ]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [400, 400],
    'either would make a ring',
  );
});

test('a hidden merge request still blocks, and is shown by its id only until the block is deleted', async () => {
  const { here, second, blocks } = await withTwo();
  const { as, db } = here;
  const elsewhere = await worldWithTopic();
  const hidden = await addMergeRequest(elsewhere);
  const pair = { blocking_id: hidden.id, blocked_id: second.id };
  const { id } = await db.insertInto('merge_request_blocks').values(pair).returning('id').executeTakeFirstOrThrow();
  assert.deepEqual((await as('developer').get(blocks)).body[0].blocking_merge_request, { id: hidden.id });
  assert.equal(await statusOf(here, second.iid), 'merge_request_blocked');
  assert.equal((await as('reporter').delete(`${blocks}/${id}`)).status, 403);
  assert.equal((await as('developer').delete(`${blocks}/${id}`)).status, 204);
  assert.equal((await as('developer').delete(`${blocks}/${id}`)).status, 404);
  assert.equal(await statusOf(here, second.iid), 'mergeable');
});
