/** The TypeScript client @gitbeaker/rest: comments and threads on issues and epics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { addIssue } from '../support/issues.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('comments on an issue are created, listed, updated and deleted', async () => {
  const here = await world();
  const { id } = here.project;
  const { iid } = await addIssue(here);
  const { IssueNotes } = clientFor(here, 'reporter');
  const first = await IssueNotes.create(id, iid, 'First.');
  assert.deepEqual(
    [first.body, first.noteable_type, first.noteable_iid, first.system],
    ['First.', 'Issue', iid, false],
  );
  await IssueNotes.create(id, iid, 'Second.', { internal: true, createdAt: '2020-01-01T00:00:00Z' });
  const bodies = async (options: { sort?: 'asc' | 'desc'; orderBy?: 'created_at' | 'updated_at' }) =>
    (await IssueNotes.all(id, iid, { ...options, perPage: 1 })).map(({ body }) => body);
  assert.deepEqual(await bodies({}), ['Second.', 'First.']);
  assert.deepEqual(await bodies({ sort: 'asc', orderBy: 'created_at' }), ['First.', 'Second.']);
  assert.deepEqual(
    (await clientFor(here, 'guest').IssueNotes.all(id, iid)).map(({ body }) => body),
    ['First.'],
  );
  assert.equal((await IssueNotes.edit(id, iid, first.id, { body: 'Third.' })).body, 'Third.');
  assert.equal((await IssueNotes.show(id, iid, first.id)).body, 'Third.');
  const foreign = await refusal(clientFor(here, 'guest').IssueNotes.remove(id, iid, first.id));
  assert.deepEqual([foreign.status, foreign.text], [403, '403 Forbidden']);
  await IssueNotes.remove(id, iid, first.id);
  assert.equal((await refusal(IssueNotes.show(id, iid, first.id))).status, 404);
  assert.equal((await refusal(IssueNotes.create(id, 99, 'x'))).text, '404 Issue Not Found');
});

test('threads on an issue are started, replied to, paged and deleted', async () => {
  const here = await world();
  const { id } = here.project;
  const { iid } = await addIssue(here);
  const { IssueDiscussions, IssueNotes } = clientFor(here, 'reporter');
  const thread = await IssueDiscussions.create(id, iid, 'What about this?');
  assert.equal(thread.individual_note, false);
  const comment = await IssueNotes.create(id, iid, 'Alone.');
  const answer = await IssueDiscussions.addNote(id, iid, thread.id, 'This.');
  assert.equal(answer.body, 'This.');
  const all = await IssueDiscussions.all(id, iid, { perPage: 1 });
  assert.deepEqual(
    all.map(({ individual_note, notes }) => [individual_note, ...(notes ?? []).map(({ body }) => body)]),
    [
      [false, 'What about this?', 'This.'],
      [true, 'Alone.'],
    ],
  );
  await IssueDiscussions.addNote(id, iid, all[1]!.id, 'Not any more.');
  const shown = await IssueDiscussions.show(id, iid, all[1]!.id);
  assert.deepEqual(
    [shown.id, shown.individual_note, shown.notes?.[0]?.id, shown.notes?.length],
    [all[1]!.id, false, comment.id, 2],
  );
  const noteId = thread.notes![0]!.id;
  const edited = await IssueDiscussions.editNote(id, iid, thread.id, noteId, { body: 'And this?' });
  assert.equal(edited.body, 'And this?');
  await IssueDiscussions.removeNote(id, iid, thread.id, noteId);
  assert.deepEqual(
    (await IssueDiscussions.show(id, iid, thread.id)).notes?.map(({ body }) => body),
    ['This.'],
  );
  assert.equal((await refusal(IssueDiscussions.show(id, iid, 'nowhere'))).text, '404 Discussion Not Found');
});

test('epics are discussed by id', async () => {
  const here = await world();
  const { id } = here.group;
  const { Epics, EpicNotes, EpicDiscussions } = clientFor(here, 'planner');
  const epic = await Epics.create(id, 'An epic');
  const note = await EpicNotes.create(id, epic.id, 'A comment.');
  assert.deepEqual(
    (await EpicNotes.all(id, epic.id)).map(({ body }) => body),
    ['A comment.'],
  );
  assert.equal((await EpicNotes.edit(id, epic.id, note.id, { body: 'Another.' })).body, 'Another.');
  const thread = await EpicDiscussions.create(id, epic.id, 'A thread.');
  await EpicDiscussions.addNote(id, epic.id, thread.id, 'An answer.');
  assert.deepEqual(
    (await EpicDiscussions.all(id, epic.id)).map(({ notes }) => notes?.length),
    [1, 2],
  );
  await EpicNotes.remove(id, epic.id, note.id);
  assert.equal((await EpicDiscussions.all(id, epic.id)).length, 1);
});
