/**
 * The TypeScript client @gitbeaker/rest: labels, milestones, iterations, and the events of their changes on issues. Iterations of projects, weight events and
 * subscriptions to labels are not here: this version of the client asks for them at addresses that do not exist.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World) => new Gitlab({ host: url, token: people.reporter.token });

test('labels of projects and groups are created, searched, updated, promoted and deleted', async () => {
  const here = await world();
  const api = clientFor(here);
  const { project, group } = here;

  const bug = await api.ProjectLabels.create(project.id, 'bug', '#ff0000', { description: 'Wrong', priority: 1 });
  assert.deepEqual([bug.name, bug.color, bug.text_color, bug.priority], ['bug', '#ff0000', '#FFFFFF', 1]);
  await api.GroupLabels.create(group.id, 'area::fruit / tree', 'green');
  const taken = await refusal(api.ProjectLabels.create(project.id, 'bug', 'red'));
  assert.deepEqual([taken.status, taken.text], [409, 'Label already exists']);

  assert.equal((await api.ProjectLabels.show(project.id, 'area::fruit / tree')).is_project_label, false);
  assert.equal((await api.ProjectLabels.edit(project.id, 'bug', { newName: 'defect' })).name, 'defect');
  const counted = await api.ProjectLabels.all(project.id, { withCounts: true });
  assert.deepEqual(
    counted.map(({ name, open_issues_count }) => [name, open_issues_count]),
    [
      ['area::fruit / tree', 0],
      ['defect', 0],
    ],
  );
  await api.ProjectLabels.promote(project.id, 'defect');
  const [, promoted] = await api.GroupLabels.all(group.id);
  assert.deepEqual([promoted!.name, promoted!.description], ['defect', 'Wrong']);
  await api.GroupLabels.remove(group.id, 'defect');
  assert.equal((await refusal(api.GroupLabels.show(group.id, 'defect'))).status, 404);
});

test('milestones are created, searched, closed and promoted, and list their issues', async () => {
  const here = await world();
  const api = clientFor(here);
  const { project, group } = here;

  const { id } = await api.ProjectMilestones.create(project.id, 'v1', {
    dueDate: '2031-01-01',
    startDate: '2030-01-01',
  });
  const refused = await refusal(api.ProjectMilestones.create(project.id, 'v1'));
  assert.equal(refused.status, 400);
  const issue = await api.Issues.create(project.id, 'Ripen', { milestoneId: id });
  assert.deepEqual(
    (await api.ProjectMilestones.allAssignedIssues(project.id, id)).map(({ iid }) => iid),
    [issue.iid],
  );
  assert.deepEqual(await api.ProjectMilestones.allAssignedMergeRequests(project.id, id), []);
  assert.equal((await api.ProjectMilestones.allBurndownChartEvents(project.id, id)).length, 1);
  const closed = await api.ProjectMilestones.edit(project.id, id, { stateEvent: 'close', description: 'done' });
  assert.deepEqual([closed.state, closed.due_date], ['closed', '2031-01-01']);
  assert.deepEqual(
    (await api.ProjectMilestones.all(project.id, { iids: [1], state: 'closed', search: 'DONE' })).map(
      ({ title }) => title,
    ),
    ['v1'],
  );
  await api.ProjectMilestones.promote(project.id, id);
  const [milestone] = await api.GroupMilestones.all(group.id);
  assert.deepEqual([milestone!.title, milestone!.state], ['v1', 'closed']);
  assert.equal((await api.GroupMilestones.allAssignedIssues(group.id, milestone!.id)).length, 1);
  await api.GroupMilestones.remove(group.id, milestone!.id);
  assert.equal((await api.Issues.show(issue.iid, { projectId: project.id })).milestone, null);
});

test('changes of an issue, including its iteration, have resource events', async () => {
  const here = await world();
  const api = clientFor(here);
  const { project, group, as } = here;
  const today = new Date().toISOString().slice(0, 10);
  await as('planner').post(`/groups/${group.id}/iteration_cadences`, {
    title: 'Sprints',
    start_date: today,
    duration_in_weeks: 1,
    iterations_in_advance: 1,
  });
  const [current, next] = await api.GroupIterations.all(group.id);
  assert.deepEqual([current!.state, next!.state, current!.start_date], [2, 1, today]);
  assert.deepEqual(
    (await api.GroupIterations.all(group.id, { state: 'upcoming' })).map(({ id }) => id),
    [next!.id],
  );

  const description = `/iteration *iteration:${current!.id}`;
  const { iid } = await api.Issues.create(project.id, 'Ripen', { labels: 'new', description });
  await api.Issues.edit(project.id, iid, { stateEvent: 'close' });
  const labels = await api.IssueLabelEvents.all(project.id, iid);
  assert.deepEqual(
    labels.map(({ action, label }) => [action, label.name]),
    [['add', 'new']],
  );
  assert.equal((await api.IssueLabelEvents.show(project.id, iid, labels[0]!.id)).id, labels[0]!.id);
  assert.deepEqual(
    (await api.IssueStateEvents.all(project.id, iid)).map(({ state }) => state),
    ['closed'],
  );
  assert.deepEqual(
    (await api.IssueIterationEvents.all(project.id, iid)).map(({ action, iteration }) => [action, iteration.id]),
    [['add', current!.id]],
  );
  assert.deepEqual(await api.IssueMilestoneEvents.all(project.id, iid), []);
});
