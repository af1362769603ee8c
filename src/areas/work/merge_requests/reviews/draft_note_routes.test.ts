import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { changePlan } from '../../../../../test/support/licenses.ts';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import type { Persona } from '../../../../../test/support/world.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';
import { prepareMergeRequest } from '../versions/jobs.ts';

test('drafts are visible only to their author, until they are published with all effects or none', async () => {
  const here = await worldWithTopic({});
  const { as, project, people, db } = here;
  const { id: merge_request_id, diff_refs: refs } = await addMergeRequest(here, {
    reviewer_ids: [people.maintainer.id],
  });
  const url = `/projects/${project.id}/merge_requests/1`;
  const drafts = `${url}/draft_notes`;
  const me = as('maintainer');
  const draft = async (values: object) => {
    const { status, body } = await me.post(drafts, { ...values });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const listed = async () => (await me.get(drafts)).body.map(({ note }: { note: string }) => note);
  const comments = async () =>
    (await as('reporter').get(`${url}/discussions`)).body
      .flatMap(({ notes }: { notes: { body: string; system: boolean }[] }) => notes)
      .filter(({ system }: { system: boolean }) => !system)
      .map(({ body }: { body: string }) => body);
  const thread = (await as('developer').post(`${url}/discussions`, { body: 'Why?' })).body;
  const position = { ...refs, position_type: 'text', old_path: 'topic.txt', new_path: 'topic.txt', new_line: 1 };
  const line_code = `${createHash('sha1').update('topic.txt').digest('hex')}_0_1`;

  const plain = await draft({ note: `Hello @${people.reporter.username}` });
  const { id, note, ...rest } = plain;
  assert.deepEqual(rest, {
    author_id: people.maintainer.id,
    merge_request_id,
    resolve_discussion: false,
    discussion_id: null,
    commit_id: null,
    line_code: null,
    position: null,
  });
  const placed = await draft({ note: 'Here', position, line_code });
  assert.deepEqual([placed.line_code, placed.position.new_line], [line_code, 1]);
  const reply = await draft({ note: 'So', in_reply_to_discussion_id: thread.id, resolve_discussion: true });
  assert.deepEqual([reply.discussion_id, reply.resolve_discussion], [thread.id, true]);

  // Nobody else sees them, and what is refused changes nothing.
  for (const persona of ['admin', 'developer'] as const) {
    const other = as(persona);
    assert.deepEqual((await other.get(drafts)).body, []);
    for (const answer of [
      await other.get(`${drafts}/${id}`),
      await other.put(`${drafts}/${id}`, { note: 'x' }),
      await other.delete(`${drafts}/${id}`),
      await other.put(`${drafts}/${id}/publish`),
    ])
      assert.equal(answer.status, 404);
    assert.equal((await other.post(`${drafts}/bulk_publish`)).status, 204);
  }
  assert.equal((await as('guest').get(drafts)).status, 404);
  const refused: [object, number, string][] = [
    [{}, 400, 'note is missing'],
    [{ note: ' ' }, 400, '400 Bad request - Note {:note=>["can\'t be blank"]}'],
    [
      { note: 'x', position: { ...position, new_line: 9 } },
      400,
      '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}',
    ],
    [
      { note: 'x', line_code },
      400,
      '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}',
    ],
    [
      { note: 'x', position: { ...position, head_sha: 'f'.repeat(40) } },
      400,
      '400 Bad request - Note {:position=>["is incomplete"]}',
    ],
    [
      { note: 'x', resolve_discussion: true },
      400,
      '400 Bad request - resolve_discussion needs in_reply_to_discussion_id',
    ],
    [{ note: 'x', in_reply_to_discussion_id: 'nowhere' }, 404, '404 Discussion Not Found'],
    [
      { note: 'x', in_reply_to_discussion_id: thread.id, position },
      400,
      'in_reply_to_discussion_id, position are mutually exclusive',
    ],
  ];
  for (const [values, status, message] of refused) {
    const answer = await me.post(drafts, { ...values });
    assert.deepEqual([answer.status, answer.body.message ?? answer.body.error], [status, message]);
  }
  const resolving = { note: 'x', in_reply_to_discussion_id: thread.id, resolve_discussion: true };
  assert.equal((await as('reporter').post(drafts, resolving)).status, 403);
  assert.equal((await me.put(`${drafts}/${reply.id}`, { position })).status, 400);
  assert.equal((await me.put(`${drafts}/${placed.id}`, { position: { ...position, new_line: 9 } })).status, 400);
  assert.deepEqual((await me.get(`${drafts}/${placed.id}`)).body, placed);
  assert.deepEqual(await listed(), [note, 'Here', 'So']);
  assert.deepEqual(await comments(), ['Why?']);

  // One that cannot be published keeps all from it.
  const impossible = await draft({ note: '/assign @nobody-of-that-name' });
  const failed = await me.post(`${drafts}/bulk_publish`);
  assert.deepEqual([failed.status, failed.body.message], [400, '400 Bad request - Failed to apply commands.']);
  assert.deepEqual(await comments(), ['Why?']);
  assert.equal((await listed()).length, 4);
  assert.equal((await me.put(`${drafts}/${impossible.id}`, { note: '/title Reap the beans' })).status, 200);

  assert.equal((await me.put(`${drafts}/${id}/publish`)).status, 204);
  assert.equal((await me.put(`${drafts}/${id}/publish`)).status, 404, 'once');
  assert.equal((await as('reporter').get('/todos', { action: 'mentioned' })).body.length, 1);
  assert.equal((await me.get(`${url}/reviewers`)).body[0].state, 'reviewed');
  assert.equal((await me.post(`${drafts}/bulk_publish`)).status, 204);
  assert.deepEqual(await listed(), []);
  assert.deepEqual((await comments()).toSorted(), [note, 'Here', 'So', 'Why?']);
  const { notes } = (await me.get(`${url}/discussions/${thread.id}`)).body;
  assert.deepEqual(
    notes.map((each: { resolved: boolean; author: { id: number } }) => [each.resolved, each.author.id]),
    [
      [true, people.developer.id],
      [true, people.maintainer.id],
    ],
  );
  assert.equal((await me.get(url)).body.title, 'Reap the beans');

  // At most 500; a locked discussion takes none from those who are no members.
  await db
    .insertInto('merge_request_draft_notes')
    .values(Array.from({ length: 499 }, () => ({ merge_request_id, author_id: people.maintainer.id, note: 'x' })))
    .execute();
  const last = await draft({ note: 'The last' });
  const tooMany = await me.post(drafts, { note: 'x' });
  assert.deepEqual(
    [tooMany.status, tooMany.body.message],
    [400, { base: ['Maximum number of draft notes (500) exceeded'] }],
  );
  assert.equal((await me.delete(`${drafts}/${last.id}`)).status, 204);
  assert.equal((await me.get(`${drafts}/${last.id}`)).status, 404);
});

test('a review is published with a summary and a state, all or nothing', async () => {
  const here = await worldWithTopic({});
  const { as, people } = here;
  await addMergeRequest(here, { reviewer_ids: [people.maintainer.id] });
  const url = `/projects/${here.project.id}/merge_requests/1`;
  const publish = (by: Persona, parameters: Record<string, unknown>) =>
    as(by).post(`${url}/draft_notes/bulk_publish`, parameters);
  const stateOf = async () => (await as('reporter').get(`${url}/reviewers`)).body[0].state;
  const comments = async (by: Persona) =>
    (await as(by).get(`${url}/notes`, { activity_filter: 'only_comments', sort: 'asc' })).body.map(
      ({ body }: { body: string }) => body,
    );
  await as('maintainer').post(`${url}/draft_notes`, { note: 'First' });
  const blank = await publish('maintainer', { note: ' ', reviewer_state: 'requested_changes' });
  assert.equal(blank.body.message, '400 Bad request - Note {:note=>["can\'t be blank"]}');
  assert.equal((await publish('maintainer', { reviewer_state: 'approved' })).status, 400);
  assert.deepEqual([await comments('maintainer'), await stateOf()], [[], 'unreviewed']);

  assert.equal((await as('maintainer').post(`${url}/approve`)).status, 201);
  assert.equal((await publish('maintainer', { note: 'Sum', internal: true, reviewer_state: 'reviewed' })).status, 204);
  assert.deepEqual(
    [await comments('reporter'), await comments('maintainer')],
    [
      ['First', 'Sum'],
      ['First', 'Sum'],
    ],
  );
  assert.equal(await stateOf(), 'approved');
  assert.equal((await publish('maintainer', { reviewer_state: 'requested_changes' })).status, 204);
  assert.equal(await stateOf(), 'requested_changes');
  assert.deepEqual((await as('reporter').get(`${url}/approvals`)).body.approved_by, []);
  assert.equal((await publish('developer', { note: 'Me too', reviewer_state: 'reviewed' })).status, 204);
  assert.deepEqual([(await comments('maintainer')).length, await stateOf()], [3, 'requested_changes']);

  const jobs = [prepareMergeRequest, mergeReady, concludeMerges];
  await performQueued(here.services, jobs);
  const shown = async () => {
    const { state, detailed_merge_status, merge_when_pipeline_succeeds } = (await as('reporter').get(url)).body;
    return [state, detailed_merge_status, merge_when_pipeline_succeeds];
  };
  assert.deepEqual(await shown(), ['opened', 'requested_changes', false]);
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  assert.equal((await as('maintainer').put(`${url}/merge`, { auto_merge: true })).status, 200);
  await performQueued(here.services, jobs);
  assert.deepEqual(await shown(), ['opened', 'requested_changes', true]);
  await changePlan(here, 'free');
  assert.deepEqual(await shown(), ['opened', 'mergeable', true], 'without Premium');
  await changePlan(here, 'ultimate');
  assert.equal((await publish('maintainer', { reviewer_state: 'reviewed' })).status, 204);
  await performQueued(here.services, jobs);
  assert.deepEqual(await shown(), ['merged', 'not_open', false]);
});

test('quick actions publish a review, and set the state of reviewers', async () => {
  const here = await worldWithTopic({});
  const { as, people } = here;
  await addMergeRequest(here, { reviewer_ids: [people.maintainer.id] });
  const url = `/projects/${here.project.id}/merge_requests/1`;
  const say = async (by: Persona, body: string) => {
    const { status, body: said } = await as(by).post(`${url}/notes`, { body });
    return [status, said.summary?.[0] ?? said.message];
  };
  const refused = [400, '400 Bad request - Failed to apply commands.'];
  const draft = async (by: Persona, note: string) => (await as(by).post(`${url}/draft_notes`, { note })).body.id;
  const stateOf = async () => (await as('reporter').get(`${url}/reviewers`)).body[0].state;
  const notes = async (activity_filter: string): Promise<string[]> =>
    (await as('maintainer').get(`${url}/notes`, { activity_filter, sort: 'asc' })).body.map(
      ({ body }: { body: string }) => body,
    );

  assert.deepEqual(await say('developer', '/request_changes'), refused, 'no reviewer');
  assert.deepEqual(await say('developer', '/submit_review'), refused, 'nothing to publish');
  assert.equal((await as('maintainer').post(`${url}/approve`)).status, 201);
  assert.deepEqual(await say('maintainer', '/submit_review'), refused, 'an approval says more');
  const requested = [202, 'Changes requested to the current merge request.'];
  assert.deepEqual(await say('maintainer', '/request_changes'), requested);
  assert.deepEqual(await say('maintainer', '/request_changes'), requested, 'in another review');
  assert.equal(await stateOf(), 'requested_changes');
  assert.deepEqual((await as('reporter').get(`${url}/approvals`)).body.approved_by, []);

  await draft('maintainer', 'First');
  const second = await draft('maintainer', '/assign @nobody-of-that-name');
  assert.deepEqual(await say('maintainer', '/submit_review'), refused);
  assert.deepEqual(await say('maintainer', '/submit_review everything'), refused);
  assert.deepEqual([await notes('only_comments'), await stateOf()], [[], 'requested_changes']);
  await as('maintainer').put(`${url}/draft_notes/${second}`, { note: 'Second\n/submit_review requested_changes' });
  assert.deepEqual(await say('maintainer', '/submit_review'), [202, 'Submitted the current review.']);
  assert.deepEqual([await notes('only_comments'), await stateOf()], [['First', 'Second'], 'reviewed']);

  await draft('maintainer', 'Third');
  const approved = 'Submitted the current review. Approved the current merge request.';
  assert.deepEqual(await say('maintainer', '/submit_review approve'), [202, approved]);
  await draft('developer', 'Fourth');
  const unapproved = 'Submitted the current review. Failed to approve the current merge request.';
  assert.deepEqual(await say('developer', '/submit_review approve'), [202, unapproved], 'its author');
  assert.deepEqual(
    [await notes('only_comments'), await stateOf()],
    [['First', 'Second', 'Third', 'Fourth'], 'approved'],
  );
  const activity = (await notes('only_activity')).filter((body) => /change|review comments|approve/.test(body));
  assert.deepEqual(activity, [
    'approved this merge request',
    'unapproved this merge request',
    'requested changes',
    'requested changes',
    'left review comments',
    'approved this merge request',
  ]);
});
