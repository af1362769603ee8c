/** The TypeScript client @gitbeaker/rest: epics, their issues and links, and reactions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { addIssue } from '../support/issues.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });
const titles = (rows: readonly { title?: unknown }[]) => rows.map(({ title }) => title);
/** Types of the client leave out members that servers answer. */
const member = (answer: object, name: string) => (answer as Record<string, unknown>)[name];

test('an epic is created, updated, closed and deleted', async () => {
  const here = await world();
  const { Epics } = clientFor(here, 'planner');
  const { id: group } = here.group;
  const made = await Epics.create(group, 'Harvest', {
    labels: 'fruit',
    description: 'All of it',
    startDateFixed: '2031-03-01',
    startDateIsFixed: true,
  });
  assert.deepEqual(
    [made.iid, made.title, made.labels, made.start_date, made.state],
    [1, 'Harvest', ['fruit'], '2031-03-01', 'opened'],
  );
  await Epics.create(group, 'Sowing', { createdAt: '2020-01-01T00:00:00Z' });
  assert.deepEqual(titles(await Epics.all(group, { labels: 'fruit' })), ['Harvest']);
  assert.deepEqual(titles(await Epics.all(group, { orderBy: 'title', sort: 'asc' } as object)), ['Harvest', 'Sowing']);
  assert.deepEqual(titles(await Epics.all(group, { not: { labels: ['fruit'] } } as object)), ['Sowing']);
  const edited = await Epics.edit(group, made.iid, {
    title: 'Great harvest',
    addLabels: 'autumn',
    stateEvent: 'close',
  } as object);
  assert.deepEqual([edited.title, edited.labels, edited.state], ['Great harvest', ['autumn', 'fruit'], 'closed']);
  assert.equal((await Epics.show(group, made.iid)).title, 'Great harvest');
  const refused = await refusal(clientFor(here, 'guest').Epics.edit(group, made.iid, { title: 'x' }));
  assert.equal(refused.status, 403);
  await Epics.remove(group, made.iid);
  assert.equal((await refusal(Epics.show(group, made.iid))).status, 404);
});

test('issues are added to an epic, reordered and removed', async () => {
  const here = await world();
  const { Epics, EpicIssues } = clientFor(here, 'planner');
  const { id: group } = here.group;
  const epic = await Epics.create(group, 'Harvest');
  const [a, b] = [await addIssue(here, { title: 'a' }), await addIssue(here, { title: 'b' })];
  const ofA = await EpicIssues.assign(group, epic.iid, a.id);
  const ofB = await EpicIssues.assign(group, epic.iid, b.id);
  assert.deepEqual(titles(await EpicIssues.all(group, epic.iid)), ['b', 'a']);
  await EpicIssues.edit(group, epic.iid, ofB.id, { moveBeforeId: ofA.id });
  assert.deepEqual(titles(await EpicIssues.all(group, epic.iid)), ['a', 'b']);
  await EpicIssues.remove(group, epic.iid, ofA.id);
  assert.deepEqual(titles(await EpicIssues.all(group, epic.iid)), ['b']);
  assert.equal((await refusal(EpicIssues.assign(group, epic.iid, b.id))).status, 409);
});

test('epics are linked with each other', async () => {
  const here = await world();
  const { Epics, LinkedEpics } = clientFor(here, 'planner');
  const { id: group } = here.group;
  const [one, other] = [await Epics.create(group, 'One'), await Epics.create(group, 'Other')];
  const link = await LinkedEpics.create(group, one.iid, other.iid, String(group));
  const related = await LinkedEpics.all(group, one.iid);
  assert.deepEqual(titles(related), ['Other']);
  await LinkedEpics.remove(group, one.iid, Number(member(link, 'id')));
  assert.deepEqual(await LinkedEpics.all(group, one.iid), []);
});

test('reactions to issues and to notes are added and removed', async () => {
  const here = await world();
  const { IssueAwardEmojis, IssueNoteAwardEmojis, IssueNotes } = clientFor(here, 'guest');
  const { id: project } = here.project;
  const { iid } = await addIssue(here);
  const given = await IssueAwardEmojis.award(project, iid, 'thumbsup');
  assert.deepEqual([given.name, given.awardable_type], ['thumbsup', 'Issue']);
  await IssueAwardEmojis.award(project, iid, 'thumbsdown');
  const [vote] = await IssueAwardEmojis.all(project, iid);
  assert.equal(vote?.name, 'thumbsdown');
  assert.equal((await IssueAwardEmojis.show(project, iid, vote!.id)).id, vote!.id);
  await IssueAwardEmojis.remove(project, iid, vote!.id);
  assert.deepEqual(await IssueAwardEmojis.all(project, iid), []);
  const refused = await refusal(IssueAwardEmojis.award(project, iid, 'no-such-emoji'));
  assert.deepEqual([refused.status, refused.text], [404, '404 Award Emoji Name is not a valid emoji name Not Found']);
  const note = await IssueNotes.create(project, iid, 'Good');
  await IssueNoteAwardEmojis.award(project, iid, note.id, 'tada');
  const ofNote = await IssueNoteAwardEmojis.all(project, iid, note.id);
  assert.deepEqual(
    ofNote.map(({ name }) => name),
    ['tada'],
  );
});
