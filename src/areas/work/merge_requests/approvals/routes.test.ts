import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../../test/support/client.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { personWith } from '../../../../../test/support/member_roles.ts';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { mergeByCommand } from '../merging/jobs.ts';
import { rebaseSource } from '../merging/rebase_jobs.ts';

const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

/** The system notes about approvals of a merge request, oldest first. */
const notesOn = async (here: World) => {
  const { body } = await here
    .as('reporter')
    .get(`${urlOf(here)}/notes`, { sort: 'asc', activity_filter: 'only_activity' });
  return body.map(({ body }: { body: string }) => body).filter((text: string) => text.includes('approv'));
};

test('eligible users approve a merge request once and revoke the approval, with all effects', async () => {
  const here = await worldWithTopic();
  const { as, people, project, db } = here;
  const { maintainer, reporter } = people;
  const { id, sha } = await addMergeRequest(here, { reviewer_ids: [maintainer.id, reporter.id] });
  const url = urlOf(here);
  const approver = await personWith(here, `/projects/${project.id}`, ['admin_merge_request']);
  const received = async (answer: ReturnType<ReturnType<typeof as>['get']>) => {
    const { status, body } = await answer;
    return [status, body.message];
  };
  const shown = async () => {
    const { body } = await as('reporter').get(`${url}/approvals`);
    return [
      body.approved_by.map(({ user }: { user: { id: number } }) => user.id),
      body.user_has_approved,
      body.user_can_approve,
    ];
  };
  const reviews = async () => {
    const { body } = await as('reporter').get(`${url}/reviewers`);
    return Object.fromEntries(body.map(({ user, state }: { user: { id: number }; state: string }) => [user.id, state]));
  };

  assert.deepEqual(
    await received(as('guest').post(`${url}/approve`)),
    [404, '404 Not found'],
    'it is hidden from them',
  );
  assert.deepEqual(await received(as('guest').get(`${url}/approvals`)), [404, '404 Not found']);
  assert.deepEqual(await received(as('reporter').post(`${url}/approve`)), [401, '401 Unauthorized']);
  const stale = await received(as('maintainer').post(`${url}/approve`, { sha: 'f'.repeat(40) }));
  assert.deepEqual(stale, [409, `SHA does not match HEAD of source branch: ${sha}`]);
  assert.deepEqual(await received(as('maintainer').post(`${url}/unapprove`)), [404, '404 Not Found']);
  assert.deepEqual(await shown(), [[], false, false]);
  assert.deepEqual(await notesOn(here), []);

  const approved = await as('maintainer').post(`${url}/approve`, { sha });
  assert.equal(approved.status, 201, JSON.stringify(approved.body));
  const { approved_by, user_has_approved, user_can_approve, iid, title, state } = approved.body;
  assert.deepEqual(
    [approved_by.length, approved_by[0].user.id, user_has_approved, user_can_approve, iid, title, state],
    [1, maintainer.id, true, false, 1, 'Sow the beans', 'opened'],
  );
  assert.deepEqual(await received(as('maintainer').post(`${url}/approve`)), [401, '401 Unauthorized'], 'once');
  assert.equal((await approver.client.get(`${url}/approvals`)).body.user_can_approve, true);
  assert.equal((await approver.client.post(`${url}/approve`)).status, 201, 'their role says so');
  assert.deepEqual(await shown(), [[maintainer.id, approver.id], false, false]);
  assert.deepEqual(await reviews(), { [maintainer.id]: 'approved', [reporter.id]: 'unreviewed' });
  assert.equal((await as('maintainer').get('/todos', { type: 'MergeRequest' })).body.length, 0, 'their review is done');
  assert.equal((await as('reporter').get('/todos', { type: 'MergeRequest' })).body.length, 1);
  const events = await as('developer').get(`/projects/${project.id}/events`, { action: 'approved' });
  assert.deepEqual(
    events.body.map(({ author_id, target_id, action_name }: Record<string, unknown>) => [
      author_id,
      target_id,
      action_name,
    ]),
    [
      [approver.id, id, 'approved'],
      [maintainer.id, id, 'approved'],
    ],
  );

  const taken = await as('maintainer').post(`${url}/unapprove`);
  assert.deepEqual([taken.status, taken.body.user_has_approved, taken.body.user_can_approve], [201, false, true]);
  assert.deepEqual((await reviews())[maintainer.id], 'unapproved');
  assert.deepEqual(await notesOn(here), [
    'approved this merge request',
    'approved this merge request',
    'unapproved this merge request',
  ]);

  const tokens = `/projects/${project.id}/access_tokens`;
  const bots = { scopes: ['api'], expires_at: new Date(Date.now() + 864e5 * 9).toISOString().slice(0, 10) };
  const botAt = async (access_level: number) => {
    const { token } = (await as('maintainer').post(tokens, { name: 'bot', access_level, ...bots })).body;
    return clientOf(`${here.url}/api/v4`, token);
  };
  assert.deepEqual(
    await received(as('owner').put(`${url}/reset_approvals`)),
    [401, '401 Unauthorized'],
    'only bots do that',
  );
  assert.deepEqual(await received((await botAt(20)).put(`${url}/reset_approvals`)), [401, '401 Unauthorized']);
  assert.deepEqual(await shown(), [[approver.id], false, false]);
  const bot = await botAt(30);
  assert.equal((await bot.put(`${url}/reset_approvals`)).status, 202);
  assert.deepEqual(await shown(), [[], false, false]);
  assert.equal((await notesOn(here)).at(-1), `reset approvals from @${approver.username}`);

  // What was merged keeps its approvals.
  assert.equal((await as('maintainer').post(`${url}/approve`)).status, 201);
  await db.updateTable('merge_requests').set({ state: 'merged' }).where('id', '=', id).execute();
  assert.deepEqual(await received(as('maintainer').post(`${url}/unapprove`)), [404, '404 Not Found']);
  assert.deepEqual(await received(as('owner').post(`${url}/approve`)), [401, '401 Unauthorized']);
  assert.equal((await bot.put(`${url}/reset_approvals`)).status, 202);
  assert.deepEqual((await shown())[0], [maintainer.id]);
});

test('quick actions approve, rebase and merge a merge request if the caller may', async () => {
  const here = await worldWithTopic();
  const { as, people } = here;
  const url = urlOf(here);
  await addMergeRequest(here);
  const say = async (by: Persona, body: string) => {
    const { status, body: said } = await as(by).post(`${url}/notes`, { body });
    return [status, said.summary?.[0] ?? said.message];
  };
  const refused = [400, '400 Bad request - Failed to apply commands.'];
  const approvers = async () => (await as('reporter').get(`${url}/approvals`)).body.approved_by.length;
  assert.deepEqual(await say('reporter', '/approve'), refused);
  assert.deepEqual(await say('developer', '/approve'), refused, 'its author');
  assert.equal(await approvers(), 0);
  assert.deepEqual(await say('maintainer', '/approve'), [202, 'Approved the current merge request.']);
  assert.deepEqual(await say('maintainer', '/approve'), refused, 'once');
  assert.equal(await approvers(), 1);
  assert.deepEqual(await say('maintainer', '/unapprove'), [202, 'Unapproved the current merge request.']);
  assert.deepEqual(await say('maintainer', '/unapprove'), refused);
  assert.equal(await approvers(), 0);

  assert.deepEqual(await say('reporter', '/rebase'), refused);
  assert.deepEqual(await say('developer', '/rebase'), [202, 'Scheduled a rebase of the source branch.']);
  assert.deepEqual(await say('developer', '/rebase'), refused, 'one is under way');
  await performQueued(here.services, [rebaseSource]);
  assert.deepEqual(await say('developer', '/merge'), refused, 'the target branch is protected');
  assert.equal((await as('maintainer').put(url, { title: 'Draft: Sow' })).status, 200);
  assert.deepEqual(await say('maintainer', '/merge'), refused);
  assert.equal((await as('maintainer').put(url, { title: 'Sow' })).status, 200);
  assert.deepEqual(await say('maintainer', '/merge'), [202, 'Scheduled to merge this merge request.']);
  assert.equal((await as('reporter').get(url)).body.state, 'opened');
  await performQueued(here.services, [mergeByCommand]);
  const { state, merge_user } = (await as('reporter').get(url)).body;
  assert.deepEqual([state, merge_user.id], ['merged', people.maintainer.id]);
});
