import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';

const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

interface NoteReply {
  id: number;
  body: string;
  type: string | null;
  system: boolean;
  resolvable: boolean;
  resolved?: boolean;
  resolved_by?: { id: number } | null;
  resolved_at?: string | null;
}

async function thread(
  here: World,
  body: string,
  by: Persona = 'reporter',
): Promise<{ id: string; notes: [NoteReply] }> {
  const begun = await here.as(by).post(`${urlOf(here)}/discussions`, { body });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  return begun.body;
}

const notesOf = async (here: World, id: string): Promise<NoteReply[]> =>
  (await here.as('reporter').get(`${urlOf(here)}/discussions/${id}`)).body.notes;
const systemNotes = async (here: World): Promise<string[]> =>
  (await here.as('reporter').get(`${urlOf(here)}/notes`, { activity_filter: 'only_activity', sort: 'asc' })).body.map(
    ({ body }: NoteReply) => body,
  );

test('threads are resolved by Developers and the author, and block merging if the project is configured so', async () => {
  const here = await worldWithTopic();
  const { as, project, people } = here;
  const url = urlOf(here);
  await addMergeRequest(here);
  const status = async (persona: Persona = 'maintainer') => {
    const { body } = await as(persona).get(url);
    const [listed] = (await as(persona).get(`/projects/${project.id}/merge_requests`)).body;
    assert.equal(listed.blocking_discussions_resolved, body.blocking_discussions_resolved);
    assert.equal(listed.detailed_merge_status, body.detailed_merge_status);
    return [body.blocking_discussions_resolved, body.detailed_merge_status];
  };

  const single = (await as('reporter').post(`${url}/notes`, { body: 'Alone' })).body;
  assert.deepEqual([single.resolvable, 'resolved' in single], [false, false]);
  const { id, notes } = await thread(here, 'Why?');
  const open = { resolvable: true, resolved: false, resolved_by: null, resolved_at: null };
  const stateOf = ({ resolvable, resolved, resolved_by, resolved_at }: NoteReply) =>
    ({ resolvable, resolved, resolved_by: resolved_by && { id: resolved_by.id }, resolved_at }) as typeof open;
  assert.deepEqual(stateOf(notes[0]), open);
  const answer = (await as('reporter').post(`${url}/discussions/${id}/notes`, { body: 'So' })).body;
  const at = `${url}/discussions/${id}`;

  // What is refused changes nothing.
  const missing = await as('developer').put(at);
  assert.deepEqual([missing.status, missing.body.error], [400, 'resolved is missing']);
  assert.equal((await as('reporter').put(at, { resolved: true })).status, 403);
  assert.equal((await as('reporter').put(`${at}/notes/${answer.id}`, { resolved: true })).status, 403);
  assert.equal((await as('developer').put(`${url}/discussions/${'0'.repeat(40)}`, { resolved: true })).status, 404);
  const alone = await as('developer').put(`${at}/notes/${single.id}`, { resolved: true });
  assert.deepEqual([alone.status, alone.body.message], [400, '400 Bad request - Note is not resolvable']);
  const neither = await as('developer').put(`${at}/notes/${answer.id}`);
  assert.equal(neither.body.error, 'body, resolved are missing, exactly one parameter must be provided');
  assert.equal(
    (await as('developer').put(`${at}/notes/${answer.id}`, { body: 'x', resolved: true })).body.error,
    'body, resolved are mutually exclusive',
  );
  assert.deepEqual((await notesOf(here, id)).map(stateOf), [open, open]);
  assert.deepEqual(await status(), [true, 'mergeable']);

  // The setting of the project makes open threads block merging.
  const setting = { only_allow_merge_if_all_discussions_are_resolved: true };
  assert.equal((await as('maintainer').put(`/projects/${project.id}`, setting)).status, 200);
  assert.deepEqual(await status(), [false, 'discussions_not_resolved']);
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  assert.equal((await as('maintainer').get(url)).body.state, 'opened');

  // One note, then the rest of the thread; the last one is noted once.
  const one = await as('developer').put(`${at}/notes/${answer.id}`, { resolved: true });
  assert.deepEqual([one.status, one.body.resolved, one.body.resolved_by.id], [200, true, people.developer.id]);
  assert.deepEqual(await status(), [false, 'discussions_not_resolved']);
  await here.db.updateTable('merge_requests').set({ author_id: people.reporter.id }).execute();
  const whole = await as('reporter').put(at, { resolved: true });
  assert.equal(whole.status, 200);
  assert.deepEqual(
    whole.body.notes.map(({ resolved_by }: NoteReply) => resolved_by?.id),
    [people.reporter.id, people.developer.id],
  );
  assert.equal((await as('developer').put(at, { resolved: true })).body.notes[0].resolved_by.id, people.reporter.id);
  assert.deepEqual(await systemNotes(here), ['resolved all threads']);
  assert.deepEqual(await status(), [true, 'mergeable']);

  // A reply does not open it; opening does, and a comment that is replied to becomes an open thread.
  const late = (await as('reporter').post(`${at}/notes`, { body: 'Thanks' })).body;
  assert.deepEqual([late.resolved, late.resolved_by.id], [true, people.reporter.id]);
  assert.deepEqual(await status(), [true, 'mergeable']);
  const opened = await as('developer').put(at, { resolved: false });
  assert.deepEqual(opened.body.notes.map(stateOf), [open, open, open]);
  await as('developer').put(at, { resolved: true });
  const comment = (await as('reporter').get(`${url}/discussions`)).body[0];
  await as('reporter').post(`${url}/discussions/${comment.id}/notes`, { body: 'No longer' });
  assert.deepEqual(await status(), [false, 'discussions_not_resolved']);

  // A merge that is to happen by itself waits for the threads, the last one of which is deleted.
  const waiting = await as('maintainer').put(`${url}/merge`, { auto_merge: true });
  assert.deepEqual(
    [waiting.status, waiting.body.state, waiting.body.merge_when_pipeline_succeeds],
    [200, 'opened', true],
  );
  await as('developer').put(`${url}/discussions/${comment.id}/notes/${single.id}`, { resolved: true });
  await performQueued(here.services, [mergeReady]);
  assert.equal((await as('reporter').get(url)).body.state, 'opened');
  const [, reply] = await notesOf(here, comment.id);
  assert.equal((await as('reporter').delete(`${url}/discussions/${comment.id}/notes/${reply!.id}`)).status, 204);
  await performQueued(here.services, [mergeReady, concludeMerges]);
  const merged = (await as('reporter').get(url)).body;
  assert.deepEqual([merged.state, merged.merge_user.id], ['merged', people.maintainer.id]);
});
