/** The TypeScript client @gitbeaker/rest: roles of groups, and members who have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('custom roles are listed, assigned to members of a group and a project, unassigned, and deleted', async () => {
  const here = await world();
  const { as, group, project, person } = here;
  const { GroupMemberRoles, GroupMembers, ProjectMembers } = clientFor(here, 'owner');
  // The client posts roles to the path of members, where they do not exist.
  const add = async (role: Record<string, unknown>) =>
    (await as('owner').post(`/groups/${group.id}/member_roles`, role)).body;
  const reader = await add({ name: 'reader', base_access_level: 10, read_code: true });
  const archivist = await add({ name: 'archivist', base_access_level: 20, archive_project: true });
  assert.deepEqual(await GroupMemberRoles.all(group.id, {}), [archivist, reader]);

  const member = await person();
  const added = await GroupMembers.add(group.id, 10, { userId: member.id, memberRoleId: reader.id } as {
    userId: number;
  });
  assert.deepEqual([added.access_level, added.member_role], [10, reader]);
  const readsCode = () => new Gitlab({ host: here.url, token: member.token }).Branches.all(project.id);
  assert.deepEqual(await readsCode(), []);
  const changed = await GroupMembers.edit(group.id, member.id, 20, { memberRoleId: archivist.id });
  assert.deepEqual([changed.access_level, changed.member_role], [20, archivist]);
  const wrong = await refusal(GroupMembers.edit(group.id, member.id, 30, { memberRoleId: archivist.id }));
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /cannot be changed since member is associated with a custom role/);
  const below = await ProjectMembers.add(project.id, 20, { userId: member.id, memberRoleId: archivist.id } as {
    userId: number;
  });
  assert.deepEqual(below.member_role, archivist);
  assert.equal((await ProjectMembers.show(project.id, member.id)).access_level, 20);

  const used = await refusal(GroupMemberRoles.remove(group.id, archivist.id));
  assert.equal(used.status, 400);
  assert.match(used.text, /Role is assigned to one or more group members/);
  await GroupMembers.remove(group.id, member.id);
  await GroupMemberRoles.remove(group.id, archivist.id);
  assert.deepEqual(await GroupMemberRoles.all(group.id, {}), [reader]);
  const forbidden = await refusal(clientFor(here, 'maintainer').GroupMemberRoles.all(group.id, {}));
  assert.deepEqual([forbidden.status, forbidden.text], [403, '403 Forbidden']);
});
