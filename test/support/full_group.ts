/** A group with everything that leaves with groups. */
import { addEpic } from './epics.ts';
import { addGroupRules } from './full_deployments.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

/** A cadence with a current and a following iteration, and one that plans by hand. */
async function addIterations({ as, group }: World): Promise<{ id: number }> {
  const url = `/groups/${group.id}/iteration_cadences`;
  const today = new Date().toISOString().slice(0, 10);
  const weekly = {
    title: 'Weekly',
    description: 'Every week',
    start_date: today,
    duration_in_weeks: 1,
    iterations_in_advance: 1,
  };
  await sent(as('planner').post(url, weekly));
  const { id } = await sent(as('planner').post(url, { title: 'Harvests', automatic: false, roll_over: false }));
  const days = { start_date: '2030-09-01', due_date: '2030-09-20' };
  await sent(
    as('planner').post(`${url}/${id}/iterations`, { title: 'Early', description: 'The *early* ones', ...days }),
  );
  const [current] = await sent(as('planner').get(`/groups/${group.id}/iterations`, { state: 'current' }));
  return current;
}

async function addEpics(here: World): Promise<{ iid: number; id: number }> {
  const { as, group } = here;
  const url = `/groups/${group.id}/epics`;
  const parent = await addEpic(here, {
    title: 'Harvest',
    description: 'All of it',
    labels: 'shared',
    color: '#112233',
  });
  const child = await addEpic(here, {
    title: 'Apples',
    parent_id: parent.id,
    confidential: true,
    start_date_is_fixed: true,
    start_date_fixed: '2030-01-01',
    due_date_is_fixed: true,
    due_date_fixed: '2030-12-31',
  });
  const other = await addEpic(here, { title: 'Pears' });
  const thread = await sent(as('owner').post(`${url}/${parent.id}/discussions`, { body: 'Which first?' }));
  await sent(as('reporter').post(`${url}/${parent.id}/discussions/${thread.id}/notes`, { body: 'The early ones.' }));
  const note = await sent(as('owner').post(`${url}/${parent.id}/notes`, { body: 'Between us', internal: true }));
  await sent(as('reporter').post(`${url}/${parent.iid}/award_emoji`, { name: 'apple' }));
  await sent(as('reporter').post(`${url}/${parent.iid}/notes/${note.id}/award_emoji`, { name: 'rocket' }));
  await sent(
    as('owner').post(`${url}/${parent.iid}/related_epics`, { target_group_id: group.id, target_epic_iid: other.iid }),
  );
  const blocked = { target_group_id: group.id, target_epic_iid: child.iid, link_type: 'blocks' };
  await sent(as('owner').post(`${url}/${other.iid}/related_epics`, blocked));
  await sent(as('owner').put(`${url}/${other.iid}`, { state_event: 'close', add_labels: 'shared' }));
  await sent(as('owner').put(`${url}/${other.iid}`, { remove_labels: 'shared' }));
  return parent;
}

const expressions = {
  commit_message_regex: '.',
  commit_message_negative_regex: '^$',
  branch_name_regex: '.',
  author_email_regex: '@',
  file_name_regex: '^$',
};

/** Fills the group of a world. @returns what its projects name */
export async function fillGroup(here: World) {
  const { as, group } = here;
  const url = `/groups/${group.id}`;
  await sent(as('owner').post(`${url}/labels`, { name: 'shared', color: '#445566', description: 'Of *all*' }));
  const season = { title: 'Season', description: 'Of the group', start_date: '2030-01-01', due_date: '2030-12-31' };
  const milestone = await sent(as('owner').post(`${url}/milestones`, season));
  const former = await sent(as('owner').post(`${url}/milestones`, { title: 'Last season' }));
  await sent(as('owner').put(`${url}/milestones/${former.id}`, { state_event: 'close' }));
  await sent(as('owner').post(`${url}/push_rule`, { ...expressions, max_file_size: 50, deny_delete_tag: true }));
  await sent(
    as('owner').post(`${url}/badges`, { link_url: 'https://a.example', image_url: 'https://a.example/a.svg' }),
  );
  const path = `friends-of-${group.path}`;
  const friends = await sent(as('owner').post('/groups', { name: 'Friends', path }));
  await sent(as('owner').post(`${url}/share`, { group_id: friends.id, group_access: 20, expires_at: '2040-01-01' }));
  await addGroupRules(here, { friends });
  return { iteration: await addIterations(here), epic: await addEpics(here), milestone, friends };
}
