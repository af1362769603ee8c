/** Issues with everything that issues can have. */
import { addIssue } from './issues.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

interface Named {
  milestone: { id: number };
  iteration: { id: number };
  epic: { iid: number };
}

async function discuss({ as }: World, url: string): Promise<void> {
  const thread = await sent(as('owner').post(`${url}/discussions`, { body: 'Which ladder?' }));
  await sent(as('reporter').post(`${url}/discussions/${thread.id}/notes`, { body: 'The long one.' }));
  const note = await sent(as('owner').post(`${url}/notes`, { body: 'Between us', internal: true }));
  await sent(as('reporter').post(`${url}/award_emoji`, { name: 'thumbsup' }));
  await sent(as('reporter').post(`${url}/notes/${note.id}/award_emoji`, { name: 'rocket' }));
}

/** Adds issues to the project of a world. */
export async function addIssues(here: World, { milestone, iteration, epic }: Named): Promise<void> {
  const { as, project, group, people } = here;
  const own = `/projects/${project.id}/issues`;
  const main = await addIssue(here, {
    title: 'Pick apples',
    description: '- [x] climb\n- [ ] pick',
    labels: 'ripe,shared,gone',
    milestone_id: milestone.id,
    assignee_ids: [people.owner.id],
    due_date: '2030-09-09',
    weight: 3,
    confidential: true,
  });
  const url = `${own}/${main.iid}`;
  await discuss(here, url);
  await sent(as('owner').post(`${url}/add_spent_time`, { duration: '1h', summary: 'Climbing' }));
  await sent(as('planner').post(`${url}/add_spent_time`, { duration: '-10m' }));
  await sent(as('owner').post(`${url}/time_estimate`, { duration: '3h' }));
  await sent(
    as('owner').put(url, { iteration_id: iteration.id, health_status: 'at_risk', weight: 5, discussion_locked: true }),
  );
  await sent(as('owner').put(url, { remove_labels: 'shared', state_event: 'close' }));
  await sent(as('owner').post(`/groups/${group.id}/epics/${epic.iid}/issues/${main.id}`));
  const other = await addIssue(here, { title: 'Pick pears', issue_type: 'incident' }, 'reporter');
  const closed = await addIssue(here, { title: 'Pick pears again', issue_type: 'task' });
  await sent(as('owner').put(`${own}/${closed.iid}`, { state_event: 'close' }));
  await sent(as('owner').put(`${own}/${closed.iid}`, { state_event: 'reopen' }));
  await sent(as('owner').post(`${own}/${closed.iid}/notes`, { body: `Again\n/duplicate #${other.iid}` }));
  await sent(
    as('owner').post(`${url}/links`, {
      target_project_id: project.id,
      target_issue_iid: other.iid,
      link_type: 'blocks',
    }),
  );
  const elsewhere = await sent(as('owner').post('/projects', { name: 'Elsewhere', path: `elsewhere-${project.id}` }));
  const moved = await addIssue(here, { title: 'Plums' });
  await sent(as('owner').post(`${own}/${moved.iid}/move`, { to_project_id: elsewhere.id }));
  await addIssue(here, { title: 'Cherries', description: `Like #${other.iid}` });
  await sent(as('owner').put(`${own}/${other.iid}/reorder`, { move_before_id: main.id }));
}
