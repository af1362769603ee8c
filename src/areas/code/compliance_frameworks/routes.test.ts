import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { controls } from './control_rules.ts';

const requirements = [
  { name: 'Review', description: 'Two people look', controls: [{ name: 'minimum_approvals_required_1' }] },
  { name: 'Branch', controls: [{ name: 'default_branch_protected' }, { name: 'default_branch_no_force_push' }] },
];
const given = { name: 'Food safety', description: 'What an inspector asks for', color: '#1f7a3d', requirements };

const at = ({ group }: World) => `/groups/${group.id}/compliance_frameworks`;
const ofProject = ({ project }: World) => `/projects/${project.id}/compliance_frameworks`;

test('a framework is created, changed, given to projects, and deleted from all of them', async () => {
  const here = await world();
  const { as, project } = here;
  const made = await sent(as('owner').post(at(here), given));
  const { id, created_at: _c, updated_at: _u, ...shown } = made;
  assert.deepEqual(shown, {
    ...given,
    requirements: [requirements[0], { ...requirements[1], description: null }],
    ...{ default: false, namespace_id: here.group.id, projects_count: 0 },
  });
  assert.deepEqual((await as('reporter').get(`${at(here)}/${id}`)).body, made);
  assert.deepEqual(
    (await sent(as('owner').put(ofProject(here), { framework_ids: [id, id] }))).map((each: { id: number }) => each.id),
    [id],
  );
  assert.deepEqual((await as('reporter').get(`/projects/${project.id}`)).body.compliance_frameworks, ['Food safety']);
  const named = async (compliance_framework: string) =>
    (await as('reporter').get('/projects', { compliance_framework })).body.map((each: { id: number }) => each.id);
  assert.ok((await named('Food safety')).includes(project.id));
  assert.deepEqual(await named('Other'), []);
  const changed = await sent(as('owner').put(`${at(here)}/${id}`, { name: 'Safety', requirements: [requirements[0]] }));
  assert.deepEqual([changed.name, changed.requirements, changed.projects_count], ['Safety', [requirements[0]], 1]);
  assert.deepEqual((await sent(as('owner').put(`${at(here)}/${id}`, { color: '#000000' }))).requirements, [
    requirements[0],
  ]);
  assert.equal((await as('owner').delete(`${at(here)}/${id}`)).status, 204);
  assert.deepEqual((await as('reporter').get(ofProject(here))).body, []);
  assert.equal((await as('reporter').get(`${at(here)}/${id}`)).status, 404);
});

test('one framework is the default, and new projects in the group and below get it', async () => {
  const here = await world();
  const { as, group } = here;
  const first = await sent(as('owner').post(at(here), { ...given, default: true }));
  const refused = await as('owner').delete(`${at(here)}/${first.id}`);
  assert.deepEqual([refused.status, refused.body.message], [400, 'Cannot delete the default framework']);
  const second = await sent(as('owner').post(at(here), { ...given, name: 'Second', default: true }));
  const list = (await as('reporter').get(at(here))).body;
  assert.deepEqual(
    list.map((each: { name: string; default: boolean }) => [each.name, each.default]),
    [
      ['Food safety', false],
      ['Second', true],
    ],
  );
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id }));
  for (const namespace_id of [group.id, below.id]) {
    const project = await sent(as('owner').post('/projects', { name: `Of ${namespace_id}`, namespace_id }));
    assert.deepEqual(project.compliance_frameworks, ['Second']);
  }
  assert.deepEqual((await sent(as('owner').post('/projects', { name: 'Mine' }))).compliance_frameworks, []);
  await sent(as('owner').put(`${at(here)}/${second.id}`, { default: false }));
  assert.equal((await as('owner').delete(`${at(here)}/${second.id}`)).status, 204);
});

test('frameworks are of top-level groups, and of Ultimate', async (t) => {
  const here = await world({});
  const { as, group } = here;
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id }));
  const message = 'Compliance frameworks are allowed only for root groups';
  for (const answer of [
    await as('owner').post(`/groups/${below.id}/compliance_frameworks`, given),
    await as('owner').get(`/groups/${below.id}/compliance_frameworks`),
  ])
    assert.deepEqual([answer.status, answer.body.message], [400, message]);
  const { id } = await sent(as('owner').post(at(here), given));
  await sent(as('owner').put(ofProject(here), { framework_ids: [id] }));
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'premium');
  for (const call of [as('owner').get(at(here)), as('owner').post(at(here), given), as('owner').get(ofProject(here))])
    assert.equal((await call).status, 403);
  await changePlan(here, 'ultimate');
  assert.equal((await as('reporter').get(ofProject(here))).body.length, 1, 'nothing is lost');
});

test('what is wrong is refused with all reasons, and nothing changes', async () => {
  const here = await world();
  const { as } = here;
  const { id } = await sent(as('owner').post(at(here), given));
  for (const [change, message] of [
    [{ name: 'Food safety' }, 'Name has already been taken'],
    [{ name: ' ' }, "Name can't be blank"],
    [{ name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
    [{ description: '' }, "Description can't be blank"],
    [{ color: 'red' }, 'Color is not a valid color'],
    [{ requirements: [{ name: 'x', controls: [{ name: 'be_nice' }] }] }, 'control name is not included in the list'],
    [{ requirements: [{ name: 'x', controls: [] }] }, "controls can't be blank"],
    [{ requirements: [requirements[0], requirements[0]] }, 'requirement name has already been taken'],
    [{ requirements: Array(51).fill(requirements[0]) }, 'requirements are too many (maximum is 50)'],
    [{ name: '', color: '#12' }, "Name can't be blank, Color is not a valid color"],
  ] as const) {
    const made = await as('owner').post(at(here), { ...given, name: 'Another', ...change });
    assert.deepEqual([made.status, made.body.message], [400, message]);
    if (message === 'Name has already been taken') continue;
    const changed = await as('owner').put(`${at(here)}/${id}`, change);
    assert.deepEqual([changed.status, changed.body.message], [400, message]);
  }
  assert.equal((await as('reporter').get(at(here))).body.length, 1);
  const other = await world();
  const foreign = await sent(other.as('owner').post(at(other), given));
  assert.equal((await as('owner').put(ofProject(here), { framework_ids: [foreign.id] })).status, 404);
  assert.equal((await as('owner').put(ofProject(here), { framework_ids: Array(21).fill(id) })).status, 400);
});

test('a member with the permission alone manages frameworks, and without it nobody below Owner', async () => {
  const here = await world();
  const { as, group } = here;
  for (const [persona, status] of [
    ['maintainer', 403],
    ['reporter', 403],
    ['outsider', 404],
    ['anonymous', 401],
  ] as const)
    assert.equal((await as(persona).post(at(here), given)).status, status);
  assert.equal((await as('guest').get(at(here))).status, 403);
  const { client: member } = await personWith(here, `/groups/${group.id}`, ['admin_compliance_framework']);
  const { id } = await sent(member.post(at(here), given));
  assert.equal((await member.put(ofProject(here), { framework_ids: [id] })).status, 200);
  assert.equal((await member.delete(`${at(here)}/${id}`)).status, 204);
});

test('a project that leaves the group, and a group that is no longer a top-level one, lose the frameworks', async () => {
  const here = await world();
  const { as, group, project } = here;
  const { id } = await sent(as('owner').post(at(here), given));
  await sent(as('owner').put(ofProject(here), { framework_ids: [id] }));
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id }));
  await sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: below.id }));
  assert.equal((await as('owner').get(ofProject(here))).body.length, 1, 'within the group it stays');
  const other = await sent(as('owner').post('/groups', { name: 'Other', path: `other-${group.id}` }));
  await sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: other.id }));
  assert.deepEqual((await as('owner').get(ofProject(here))).body, []);
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: other.id }));
  assert.equal((await as('owner').get(`/groups/${other.id}/compliance_frameworks/${id}`)).status, 404);
});

test('controls have names of their own, and each can be chosen', async () => {
  const here = await world();
  const all = [...controls.keys()].map((name) => ({ name }));
  const framework = await sent(
    here.as('owner').post(at(here), { ...given, requirements: [{ name: 'All', controls: all }] }),
  );
  assert.deepEqual(framework.requirements[0].controls, all);
});
