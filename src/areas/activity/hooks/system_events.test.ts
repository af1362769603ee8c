import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { dayFromNow } from '../../../../test/support/licenses.ts';
import { newPublicKey } from '../../../../test/support/public_key.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeGroup } from '../../people/namespaces/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { tellOfExpiringTokens } from '../../spaces/access_tokens/index.ts';
import { removeProject } from '../../spaces/projects/index.ts';

let receiver: Receiver;
let here: World;
before(async () => {
  receiver = await startReceiver();
  here = await world({});
  await allowLocalHooks(here);
  const system = await here.as('admin').post('/hooks', { url: `${receiver.url}/system`, push_events: false });
  assert.equal(system.status, 201);
  const flags = { push_events: false, member_events: true, subgroup_events: true, project_events: true };
  const ofGroup = await here
    .as('owner')
    .post(`/groups/${here.group.id}/hooks`, { url: `${receiver.url}/group`, ...flags });
  assert.equal(ofGroup.status, 201);
});
after(() => receiver.stop());

/** What the hook of the server, and that of the group, are told now. */
async function received() {
  await sendHooks(here);
  const all = receiver.take();
  const at = (path: string) => all.filter((each) => each.path === path).map(({ body }) => body);
  for (const { path, headers } of all) if (path === '/system') assert.equal(headers['x-gitlab-event'], 'System Hook');
  return { system: at('/system'), group: at('/group') };
}
// The hooks are the same for all tests: what one has caused is not told in the next.
afterEach(received);

const namesOf = (bodies: { event_name: string }[]) => bodies.map(({ event_name }) => event_name).sort();

test('members and access requests of groups and projects trigger system hooks', async () => {
  const { as, group, project } = here;
  const { id, username, client } = await here.person();
  await received();
  const members = `/groups/${group.id}/members`;
  await as('owner').post(members, { user_id: id, access_level: 20 });
  await as('owner').put(`${members}/${id}`, { access_level: 30 });
  await as('owner').delete(`${members}/${id}`);
  const first = await received();
  const names = ['user_add_to_group', 'user_remove_from_group', 'user_update_for_group'];
  assert.deepEqual([namesOf(first.system), namesOf(first.group)], [names, names]);
  const added = first.group.find(({ event_name }) => event_name === 'user_add_to_group');
  assert.deepEqual(
    [added.group_id, added.group_path, added.user_id, added.user_username, added.group_access, added.user_email],
    [group.id, group.path, id, username, 'Reporter', '[REDACTED]'],
  );

  await as('owner').post(`/projects/${project.id}/members`, { user_id: id, access_level: 30 });
  await as('owner').delete(`/projects/${project.id}/members/${id}`);
  const second = await received();
  assert.deepEqual([namesOf(second.system), second.group], [['user_add_to_team', 'user_remove_from_team'], []]);
  assert.equal(second.system[0].project_path_with_namespace, project.full_path);

  await as('owner').put(`/groups/${group.id}`, { visibility: 'public' });
  assert.equal((await client.post(`/groups/${group.id}/access_requests`)).status, 201);
  assert.equal((await as('owner').delete(`/groups/${group.id}/access_requests/${id}`)).status, 204);
  const third = await received();
  assert.deepEqual(namesOf(third.group), ['user_access_request_revoked_for_group', 'user_access_request_to_group']);
});

test('groups and projects trigger system hooks when they are created, renamed, transferred, updated and deleted', async () => {
  const { as, group } = here;
  const subgroup = (await as('owner').post('/groups', { name: 'Cellar', path: 'cellar', parent_id: group.id })).body;
  const project = (await as('owner').post('/projects', { name: 'Jam', path: 'jam', namespace_id: subgroup.id })).body;
  const created = await received();
  assert.deepEqual(namesOf(created.system), ['group_create', 'project_create']);
  assert.deepEqual(namesOf(created.group), ['project_create', 'subgroup_create']);
  const [ofProject] = created.group.filter(({ event_name }) => event_name === 'project_create');
  assert.deepEqual(
    [ofProject.project_id, ofProject.path_with_namespace],
    [project.id, `${group.full_path}/cellar/jam`],
  );

  await as('owner').put(`/projects/${project.id}`, { description: 'Sweet' });
  await as('owner').put(`/projects/${project.id}`, { path: 'jelly' });
  await as('owner').put(`/groups/${subgroup.id}`, { path: 'attic' });
  await as('owner').put(`/projects/${project.id}/transfer`, { namespace: group.id });
  const changed = await received();
  assert.deepEqual(namesOf(changed.system), ['group_rename', 'project_rename', 'project_transfer', 'project_update']);
  assert.deepEqual(changed.group, []);
  const renamed = changed.system.find(({ event_name }) => event_name === 'project_rename');
  assert.equal(renamed.old_path_with_namespace, `${group.full_path}/cellar/jam`);
  const moved = changed.system.find(({ event_name }) => event_name === 'group_rename');
  assert.deepEqual([moved.old_full_path, moved.full_path], [`${group.full_path}/cellar`, `${group.full_path}/attic`]);

  const end = async (path: string, full_path: string) => {
    await as('owner').delete(path);
    const marked = (await as('owner').get(path)).body;
    const removed = await as('owner').delete(path, {
      permanently_remove: true,
      full_path: marked.path_with_namespace ?? marked.full_path,
    });
    assert.ok(removed.status < 300, `${full_path}: ${JSON.stringify(removed.body)}`);
  };
  await end(`/projects/${project.id}`, 'jelly');
  await end(`/groups/${subgroup.id}`, 'attic');
  await performQueued(here.services, [removeProject, removeGroup]);
  const removed = await received();
  const destroyed = (bodies: { event_name: string }[]) => namesOf(bodies).filter((name) => name.endsWith('_destroy'));
  assert.deepEqual(destroyed(removed.system), ['group_destroy', 'project_destroy']);
  assert.deepEqual(destroyed(removed.group), ['project_destroy', 'subgroup_destroy']);
});

test('users and their keys trigger only the hooks of the server', async () => {
  const given = {
    username: 'pomona',
    name: 'Pomona',
    email: 'pomona@example.com',
    password: 'a long enough word',
    skip_confirmation: true,
  };
  const { id } = (await here.as('admin').post('/users', given)).body;
  await here.as('admin').put(`/users/${id}`, { username: 'pomona-2' });
  const key = (await here.as('admin').post(`/users/${id}/keys`, { title: 'k', key: newPublicKey() })).body;
  await here.as('admin').delete(`/users/${id}/keys/${key.id}`);
  await performJob(here.services, removeUser, { user_id: id, hard: false });
  const { system, group } = await received();
  assert.deepEqual(group, []);
  assert.deepEqual(namesOf(system), ['key_create', 'key_destroy', 'user_create', 'user_destroy', 'user_rename']);
  const renamed = system.find(({ event_name }) => event_name === 'user_rename');
  assert.deepEqual([renamed.old_username, renamed.username, renamed.user_id], ['pomona', 'pomona-2', id]);
});

test('an access token of a project that expires within a week triggers webhooks once', async () => {
  const { as, project } = here;
  const flags = { push_events: false, resource_access_token_events: true };
  const hooks = `/projects/${project.id}/hooks`;
  const hook = (await as('maintainer').post(hooks, { url: `${receiver.url}/tokens`, ...flags })).body;
  const token = (name: string, days: number) =>
    as('maintainer').post(`/projects/${project.id}/access_tokens`, {
      name,
      scopes: ['api'],
      expires_at: dayFromNow(days),
    });
  assert.equal((await token('soon', 7)).status, 201);
  assert.equal((await token('later', 9)).status, 201);
  for (let run = 0; run < 2; run++) await performJob(here.services, tellOfExpiringTokens);
  await sendHooks(here);
  const bodies = receiver.take().filter(({ path }) => path === '/tokens');
  assert.deepEqual(
    bodies.map(({ body }) => [
      body.event_name,
      body.object_attributes.name,
      body.object_attributes.expires_at,
      body.project.id,
    ]),
    [['expiring_access_token', 'soon', dayFromNow(7), project.id]],
  );
  await as('maintainer').delete(`${hooks}/${hook.id}`);
});

test('reactions and milestones trigger the webhooks of the project, but reactions on confidential issues do not', async () => {
  const { as, project } = here;
  const flags = { push_events: false, emoji_events: true, milestone_events: true };
  const hook = (
    await as('maintainer').post(`/projects/${project.id}/hooks`, { url: `${receiver.url}/project`, ...flags })
  ).body;
  await received();
  const issues = `/projects/${project.id}/issues`;
  const { iid } = (await as('developer').post(issues, { title: 'Pears' })).body;
  const secret = (await as('developer').post(issues, { title: 'Secret', confidential: true })).body;
  await as('developer').post(`${issues}/${secret.iid}/award_emoji`, { name: 'pear' });
  const award = (await as('developer').post(`${issues}/${iid}/award_emoji`, { name: 'pear' })).body;
  await as('developer').delete(`${issues}/${iid}/award_emoji/${award.id}`);
  const { id } = (await as('developer').post(`/projects/${project.id}/milestones`, { title: 'Autumn' })).body;
  await as('developer').put(`/projects/${project.id}/milestones/${id}`, { state_event: 'close' });
  await as('developer').delete(`/projects/${project.id}/milestones/${id}`);
  await sendHooks(here);
  const bodies = receiver.take().map(({ body }) => body);
  const emoji = bodies.filter(({ object_kind }) => object_kind === 'emoji');
  assert.deepEqual(emoji.map(({ event_type }) => event_type).sort(), ['award', 'revoke']);
  assert.deepEqual(
    [emoji[0].object_attributes.name, emoji[0].object_attributes.awardable_type, emoji[0].issue.iid],
    ['pear', 'Issue', iid],
  );
  const milestones = bodies.filter(({ object_kind }) => object_kind === 'milestone');
  assert.deepEqual(milestones.map(({ action }) => action).sort(), ['close', 'create', 'delete']);
  assert.equal(milestones[0].object_attributes.title, 'Autumn');

  const ask = (trigger: string) => as('maintainer').post(`/projects/${project.id}/hooks/${hook.id}/test/${trigger}`);
  const none = await ask('milestone_events');
  assert.deepEqual([none.status, none.body.message], [422, 'Ensure the project has milestones.']);
  for (const [trigger, kind] of [
    ['emoji_events', 'emoji'],
    ['resource_access_token_events', 'access_token'],
  ] as const) {
    assert.equal((await ask(trigger)).status, 201);
    assert.equal(receiver.take()[0]!.body.object_kind, kind);
  }
});
