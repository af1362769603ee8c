/** The TypeScript client @gitbeaker/rest: issues from their first moment to their removal, links, time and images. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { manyIssues } from '../support/issues.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('an issue is created, updated, closed, reopened, read by id, and deleted', async () => {
  const here = await world();
  const { id } = here.project;
  const { people } = here;
  const { Issues } = clientFor(here, 'planner');
  const made = await Issues.create(id, 'A first issue', {
    description: '- [ ] one\n- [x] two',
    assigneeIds: [people.developer.id],
    labels: 'bug,ui',
    dueDate: '2031-01-02',
    confidential: true,
    weight: 3,
  });
  assert.deepEqual(
    [made.iid, made.state, made.labels, made.due_date, made.confidential],
    [1, 'opened', ['bug', 'ui'], '2031-01-02', true],
  );
  assert.deepEqual(
    made.assignees?.map(({ id: assignee }) => assignee),
    [people.developer.id],
  );
  assert.deepEqual(made.task_completion_status, { count: 2, completed_count: 1 });
  assert.deepEqual(made.references, { short: '#1', relative: '#1', full: `${here.project.full_path}#1` });
  const edited = await Issues.edit(id, 1, {
    title: 'Renamed',
    removeLabels: 'ui',
    addLabels: 'api',
    assigneeIds: [0],
    stateEvent: 'close',
  });
  assert.deepEqual(
    [edited.title, edited.labels, edited.assignees, edited.state],
    ['Renamed', ['api', 'bug'], [], 'closed'],
  );
  assert.equal((edited.closed_by as unknown as { id: number }).id, people.planner.id);
  assert.equal((await Issues.edit(id, 1, { stateEvent: 'reopen' })).state, 'opened');
  assert.equal((await Issues.show(1, { projectId: id })).title, 'Renamed');
  assert.equal((await clientFor(here, 'admin').Issues.show(made.id)).iid, 1);
  assert.equal((await refusal(Issues.show(made.id))).status, 403);
  const blank = await refusal(Issues.create(id, ''));
  assert.deepEqual([blank.status, blank.text], [400, '{"title":["can\'t be blank"]}']);
  assert.equal((await refusal(Issues.remove(id, 1))).status, 403);
  await clientFor(here, 'owner').Issues.remove(id, 1);
  assert.equal((await refusal(Issues.show(1, { projectId: id }))).status, 404);
  assert.equal((await Issues.create(id, 'The next')).iid, 2);
});

test('a list of 1,300 issues is walked to its end', async () => {
  const here = await world();
  await manyIssues(here, 1300);
  const { Issues } = clientFor(here, 'planner');
  for (const orderBy of ['title', 'weight', 'created_at'] as const) {
    const all = await Issues.all({ projectId: here.project.id, orderBy, perPage: 90 });
    assert.deepEqual(
      all.map(({ iid }) => iid).toSorted((a, b) => a - b),
      Array.from({ length: 1300 }, (_, index) => index + 1),
    );
  }
});

test('issues are reordered, and moved and cloned to another project', async () => {
  const here = await world();
  const { id } = here.project;
  const { Issues } = clientFor(here, 'planner');
  const target = await clientFor(here, 'owner').Projects.create({ name: 'Target', namespaceId: here.group.id });
  const [one, two] = [await Issues.create(id, 'One'), await Issues.create(id, 'Two')];
  await Issues.reorder(id, two.iid, { moveBeforeId: one.id });
  const titles = (await Issues.all({ projectId: id, orderBy: 'relative_position', sort: 'asc' })).map(
    ({ title }) => title,
  );
  assert.deepEqual(titles, ['Two', 'One']);
  const moved = await Issues.move(id, one.iid, target.id);
  assert.deepEqual([moved.project_id, moved.iid, moved.title], [target.id, 1, 'One']);
  const left = await Issues.show(one.iid, { projectId: id });
  assert.deepEqual([left.state, left.moved_to_id], ['closed', moved.id]);
  assert.equal((await Issues.clone(id, two.iid, target.id, { withNotes: true })).iid, 2);
  const refused = await refusal(Issues.move(id, two.iid, id));
  assert.deepEqual(
    [refused.status, refused.text],
    [400, 'Cannot move work item to same project or group it originates from.'],
  );
});

test('time is tracked, people subscribe, and issues are linked', async () => {
  const here = await world();
  const { id } = here.project;
  const { Issues, IssueLinks } = clientFor(here, 'reporter');
  const [one, two] = [await Issues.create(id, 'One'), await Issues.create(id, 'Two')];
  assert.equal((await Issues.addTimeEstimate(id, one.iid, '1d')).human_time_estimate, '1d');
  assert.equal((await Issues.addSpentTime(id, one.iid, '90m', { summary: 'x' })).human_total_time_spent, '1h 30m');
  assert.equal((await Issues.showTimeStats(id, one.iid)).total_time_spent, 5400);
  assert.equal((await Issues.resetSpentTime(id, one.iid)).total_time_spent, 0);
  assert.equal((await Issues.resetTimeEstimate(id, one.iid)).time_estimate, 0);

  assert.equal((await clientFor(here, 'guest').Issues.subscribe(id, one.iid)).subscribed, true);
  assert.equal((await clientFor(here, 'guest').Issues.unsubscribe(id, one.iid)).subscribed, false);
  assert.deepEqual(
    (await Issues.allParticipants(id, one.iid)).map(({ username }) => username),
    [here.people.reporter.username],
  );

  const link = await IssueLinks.create(id, one.iid, id, two.iid, { linkType: 'blocks' });
  assert.deepEqual([link.source_issue.id, link.target_issue.id, link.link_type], [one.id, two.id, 'blocks']);
  const [linked] = await IssueLinks.all(id, two.iid);
  assert.deepEqual([linked?.id, linked?.link_type], [one.id, 'blocks']);
  assert.equal((await refusal(IssueLinks.create(id, two.iid, id, one.iid))).status, 409);
  const issue_link_id = (linked as unknown as { issue_link_id: number }).issue_link_id;
  await IssueLinks.remove(id, two.iid, issue_link_id);
  assert.deepEqual(await IssueLinks.all(id, one.iid), []);
});

test('metric images of an incident are uploaded, updated and deleted', async () => {
  const here = await world();
  const { id } = here.project;
  const { Issues } = clientFor(here, 'reporter');
  const { iid } = await Issues.create(id, 'It burns', { issueType: 'incident' });
  const image = { content: new Blob(['pixels']), filename: 'load.png' };
  // In forms the client leaves names as they are: what it calls urlText does not arrive.
  const added = await Issues.uploadMetricImage(id, iid, image, { url: 'https://graphs.example/1' });
  assert.deepEqual([added.filename, added.url], ['load.png', 'https://graphs.example/1']);
  assert.deepEqual(await Issues.allMetricImages(id, iid), [added]);
  assert.equal(
    (await Issues.editMetricImage(id, iid, added.id, { url: 'https://graphs.example/2' })).url,
    'https://graphs.example/2',
  );
  await Issues.removeMetricImage(id, iid, added.id);
  assert.deepEqual(await Issues.allMetricImages(id, iid), []);
});
