/** The TypeScript client @gitbeaker/rest: the life of projects and groups, from sharing and forking to their end. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { removeUnused } from '../../src/areas/code/repository/index.ts';
import { removeGroup } from '../../src/areas/people/namespaces/index.ts';
import { copyFork, removeProject } from '../../src/areas/spaces/projects/index.ts';
import { daysFromNow } from '../../src/cron/index.ts';
import { repositoryOf } from '../../src/git/index.ts';
import { performQueued } from '../support/jobs.ts';
import { filledWorld } from '../support/repository.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: string) => new Gitlab({ host: url, token });
const clientFor = (here: World, persona: Persona) => clientOf(here, here.people[persona].token);
const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
/** The client has no type for what some calls answer. */
const answer = async (call: Promise<unknown>) => (await call) as Record<string, unknown>;

test('a project is starred, archived and unarchived', async () => {
  const here = await world();
  const { id } = here.project;
  const { Projects } = clientFor(here, 'owner');
  assert.equal((await Projects.star(id)).star_count, 1);
  // The client takes 304, which has no body, for an error.
  assert.equal((await refusal(Projects.star(id))).status, 304);
  assert.equal((await Projects.show(id)).star_count, 1);
  assert.deepEqual(
    (await Projects.allStarrers(id)).map(({ user }) => user.id),
    [here.people.owner.id],
  );
  const starred = await clientFor(here, 'owner').Users.allStarredProjects(here.people.owner.id);
  assert.deepEqual(ids(starred), [id]);
  assert.equal((await Projects.unstar(id)).star_count, 0);

  assert.equal((await Projects.archive(id)).archived, true);
  const { RepositoryFiles } = clientFor(here, 'maintainer');
  const written = await refusal(RepositoryFiles.create(id, 'a.txt', 'main', 'x', 'Add'));
  assert.equal(written.status, 403);
  assert.deepEqual(ids(await clientFor(here, 'owner').Groups.allProjects(here.group.id, { archived: true })), [id]);
  assert.equal((await Projects.unarchive(id)).archived, false);
  assert.equal((await RepositoryFiles.create(id, 'a.txt', 'main', 'x', 'Add')).file_path, 'a.txt');
});

test('a private project is forked, and its fork relation is removed and added again', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const hidden = await refusal(clientFor(here, 'outsider').Projects.fork(id));
  assert.deepEqual([hidden.status, hidden.text], [404, '404 Project Not Found']);
  const { Projects, Branches } = clientFor(here, 'reporter');
  const fork = await Projects.fork(id, { path: 'copy', name: 'Copy' });
  assert.deepEqual([fork.import_status, fork.visibility], ['scheduled', 'private']);
  assert.deepEqual(ids([fork.forked_from_project as { id: number }]), [id]);
  await performQueued(here.services, [copyFork]);
  assert.equal((await Projects.show(fork.id)).import_status, 'finished');
  assert.deepEqual(
    (await Branches.all(fork.id)).map(({ name }) => name),
    ['main'],
  );
  assert.deepEqual(ids(await Projects.allForks(id)), [fork.id]);
  assert.equal((await refusal(Projects.fork(id, { path: 'copy', name: 'Copy' }))).status, 409);
  await Projects.removeForkRelationship(fork.id);
  assert.equal((await Projects.show(fork.id)).forked_from_project, undefined);
  await Projects.createForkRelationship(fork.id, id);
  assert.deepEqual(ids([(await Projects.show(fork.id)).forked_from_project as { id: number }]), [id]);
});

test('an invited group brings its members, at most with the level of the invitation, until it is revoked', async () => {
  const here = await world();
  const { id, path } = here.project;
  const lead = await here.person();
  const crew = await clientOf(here, lead.token).Groups.create('Crew', `crew-${lead.id}`, { visibility: 'public' });
  const theirs = clientOf(here, lead.token).Projects;
  assert.equal((await refusal(theirs.show(id))).status, 404);

  const { Projects, Groups } = clientFor(here, 'owner');
  const shared = await answer(Projects.share(id, crew.id, 20, { expiresAt: daysFromNow(30) }));
  assert.deepEqual(
    [shared.project_id, shared.group_id, shared.group_access, shared.expires_at],
    [id, crew.id, 20, daysFromNow(30)],
  );
  assert.deepEqual([(await theirs.show(id)).path], [path]);
  const members = await clientFor(here, 'owner').ProjectMembers.all(id, { includeInherited: true });
  assert.equal(members.find((member) => member.id === lead.id)?.access_level, 20);
  assert.equal((await Projects.show(id)).shared_with_groups?.length, 1);
  assert.deepEqual(ids(await Projects.allInvitedGroups(id)), [crew.id]);
  assert.deepEqual(ids(await Groups.allSharedProjects(crew.id)), [id]);
  assert.equal((await refusal(Projects.share(id, crew.id, 20, {}))).status, 409);
  await Projects.unshare(id, crew.id);
  assert.equal((await refusal(theirs.show(id))).status, 404);
  assert.equal((await refusal(Projects.unshare(id, crew.id))).text, '404 Group Link Not Found');

  const group = await Groups.share(here.group.id, crew.id, 30, {});
  assert.deepEqual(
    (group.shared_with_groups as { group_id: number; group_access_level: number }[]).map((link) => [
      link.group_id,
      link.group_access_level,
    ]),
    [[crew.id, 30]],
  );
  assert.equal((await theirs.show(id)).id, id);
  await Groups.unshare(here.group.id, crew.id, {});
  assert.equal((await refusal(theirs.show(id))).status, 404);
});

for (const kind of ['project', 'group'] as const) {
  test(`a request to join a ${kind} is approved or denied`, async () => {
    const here = await world();
    await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
    await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
    const { id } = here[kind];
    const [first, second] = [await here.person(), await here.person()];
    const requestsOf = (api: InstanceType<typeof Gitlab>) =>
      kind === 'project' ? api.ProjectAccessRequests : api.GroupAccessRequests;
    const managed = requestsOf(clientFor(here, 'owner'));
    const asked = await requestsOf(clientOf(here, first.token)).request(id);
    assert.equal(asked.id, first.id);
    assert.ok(asked.requested_at);
    await requestsOf(clientOf(here, second.token)).request(id);
    assert.deepEqual(ids(await managed.all(id)), [first.id, second.id]);
    const member = await managed.approve(id, first.id, { accessLevel: 20 });
    assert.deepEqual([member.id, (member as { access_level?: number }).access_level], [first.id, 20]);
    await managed.deny(id, second.id);
    assert.deepEqual(await managed.all(id), []);
    assert.equal((await refusal(managed.approve(id, second.id))).status, 404);
    assert.equal((await refusal(requestsOf(clientOf(here, first.token)).request(id))).status, 403);
  });
}

test('a project and a group are transferred, and the old path of the project redirects to the new one', async () => {
  const here = await filledWorld();
  const { Groups, Projects } = clientFor(here, 'owner');
  const there = await Groups.create('There', `there-${here.group.id}`);
  assert.deepEqual(ids(await Projects.allTransferLocations(here.project.id, { search: there.path })), [there.id]);
  const moved = await Projects.transfer(here.project.id, there.id);
  assert.equal(moved.path_with_namespace, `${there.path}/${here.project.path}`);
  assert.equal((await Projects.show(here.project.full_path)).id, here.project.id, 'the client follows');
  const written = await refusal(Projects.edit(here.project.full_path, { description: 'x' }));
  assert.deepEqual([written.status, written.text], [405, 'Non GET methods are not allowed for moved projects']);
  assert.equal((await refusal(clientFor(here, 'maintainer').Projects.show(here.project.full_path))).status, 404);

  assert.deepEqual(ids(await Groups.allTransferLocations(there.id, { search: here.group.path })), [here.group.id]);
  const inside = await answer(Groups.transfer(there.id, { groupId: here.group.id }));
  assert.deepEqual([inside.full_path, inside.parent_id], [`${here.group.path}/${there.path}`, here.group.id]);
  assert.equal((await Projects.show(here.project.id)).path_with_namespace, `${inside.full_path}/${here.project.path}`);
  assert.equal((await refusal(Groups.show(there.full_path))).status, 404);
  assert.equal((await clientFor(here, 'maintainer').Projects.show(here.project.full_path)).id, here.project.id);
  const top = await answer(Groups.transfer(there.id));
  assert.deepEqual([top.full_path, top.parent_id], [there.path, null]);
  await clientFor(here, 'admin').Groups.transferProject(here.group.id, here.project.id);
  assert.equal((await Projects.show(here.project.id)).path_with_namespace, here.project.full_path);
});

test('a project is marked for deletion, restored, marked again, and deleted with its repository', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const { path } = repositoryOf(here.services, { id, storage: 'default' });
  const { Projects } = clientFor(here, 'owner');
  await Projects.remove(id);
  assert.equal((await Projects.show(id)).marked_for_deletion_on, daysFromNow(0));
  assert.equal((await answer(Projects.restore(id))).marked_for_deletion_on, null);
  assert.equal((await refusal(Projects.restore(id))).text, 'Project has not been marked for deletion');
  await Projects.remove(id);
  const { path_with_namespace } = await Projects.show(id);
  await Projects.remove(id, { permanentlyRemove: true, fullPath: path_with_namespace });
  assert.deepEqual(await performQueued(here.services, [removeProject, removeUnused]), [
    'remove_project',
    'remove_unused_repositories',
  ]);
  assert.deepEqual((await refusal(Projects.show(id))).status, 404);
  assert.ok(!existsSync(path));
});

test('a subgroup is deleted with its content', async () => {
  const here = await world();
  const { Groups, Projects } = clientFor(here, 'owner');
  const sub = await Groups.create('Sub', 'sub', { parentId: here.group.id });
  const project = await Projects.create({ name: 'Inside', namespaceId: sub.id, initializeWithReadme: true });
  const { path } = repositoryOf(here.services, { id: project.id, storage: 'default' });
  await Groups.remove(sub.id);
  assert.equal((await Projects.show(project.id)).id, project.id, 'members see it until then');
  assert.equal((await answer(Groups.restore(sub.id))).marked_for_deletion_on, null);
  await Groups.remove(sub.id);
  const wrong = await refusal(Groups.remove(sub.id, { permanentlyRemove: true, fullPath: 'sub' }));
  assert.equal(wrong.status, 400);
  await Groups.remove(sub.id, { permanentlyRemove: true, fullPath: (await Groups.show(sub.id)).full_path });
  await performQueued(here.services, [removeGroup, removeUnused]);
  assert.equal((await refusal(Groups.show(sub.id))).status, 404);
  assert.equal((await refusal(Projects.show(project.id))).status, 404);
  assert.ok(!existsSync(path));
});

test('namespaces are listed, shown and checked for free paths; members are imported from another project', async () => {
  const here = await world();
  const { Namespaces, Projects, ProjectMembers } = clientFor(here, 'owner');
  assert.equal((await Namespaces.show(here.group.full_path)).kind, 'group');
  assert.ok(ids(await Namespaces.all({ perPage: 100 })).includes(here.group.id));
  const { exists, suggests } = await Namespaces.exists(here.group.path);
  assert.deepEqual([exists, suggests], [true, [`${here.group.path}1`]]);

  const source = await Projects.create({ name: 'Source', namespaceId: here.group.id });
  const { id: userId } = await here.person();
  await ProjectMembers.add(source.id, 20, { userId });
  await Projects.importProjectMembers(here.project.id, source.id);
  assert.equal((await ProjectMembers.show(here.project.id, userId)).access_level, 20);
  assert.deepEqual(
    ids(
      await Projects.allUsers(here.project.id, {
        search: `${(await ProjectMembers.show(source.id, userId)).username}`,
      }),
    ),
    [userId],
  );
  assert.deepEqual(ids(await Projects.allGroups(here.project.id)), [here.group.id]);
});
