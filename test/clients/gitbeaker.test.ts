/** The TypeScript client @gitbeaker/rest: people, groups, projects, members, freeze periods, and how it pages and fails. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { daysFromNow } from '../../src/cron/index.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: string) => new Gitlab({ host: url, token });
const clientFor = (here: World, persona: Persona) => clientOf(here, here.people[persona].token);

/** A day that many days from now, as YYYY-MM-DD. */

const person = (username: string) => ({
  username,
  name: `Person ${username}`,
  email: `${username}@example.com`,
  forceRandomPassword: true,
  skipConfirmation: true,
});

test('an administrator creates, finds, updates, blocks and unblocks a user', async () => {
  const here = await world();
  const api = clientFor(here, 'admin');
  const username = `ada-${here.people.admin.id}`;

  const added = await api.Users.create({ ...person(username), password: randomUUID(), forceRandomPassword: false });
  assert.equal(added.username, username);
  assert.equal(added.state, 'active');
  assert.equal((await api.Users.show(added.id)).name, `Person ${username}`);
  assert.deepEqual(
    (await api.Users.all({ username })).map(({ id }) => id),
    [added.id],
  );
  assert.equal((await api.Users.edit(added.id, { bio: 'Counts & computes' })).bio, 'Counts & computes');

  await api.Users.block(added.id);
  assert.equal((await api.Users.show(added.id)).state, 'blocked');
  await api.Users.unblock(added.id);
  assert.equal((await api.Users.show(added.id)).state, 'active');
});

test('a user rotates the token that an administrator created for them, which revokes the old one', async () => {
  const here = await world();
  const { PersonalAccessTokens, Users } = clientFor(here, 'admin');
  const { id } = await Users.create(person(`grace-${here.people.admin.id}`));

  const made = await PersonalAccessTokens.create(id, 'laptop', ['api', 'self_rotate'], { expiresAt: daysFromNow(30) });
  assert.deepEqual([made.name, made.expires_at, made.scopes], ['laptop', daysFromNow(30), ['api', 'self_rotate']]);
  const hers = clientOf(here, String(made.token));
  assert.equal((await hers.Users.showCurrentUser()).id, id);
  assert.deepEqual(
    (await hers.PersonalAccessTokens.all()).map(({ name }) => name),
    ['laptop'],
  );

  const rotated = await hers.PersonalAccessTokens.rotate('self', { expiresAt: daysFromNow(60) });
  assert.equal(rotated.expires_at, daysFromNow(60));
  const refused = await refusal(hers.Users.showCurrentUser());
  assert.deepEqual([refused.status, refused.text], [401, 'invalid_token']);
  const again = clientOf(here, String(rotated.token));
  assert.equal((await again.PersonalAccessTokens.show()).id, rotated.id);

  await again.PersonalAccessTokens.remove();
  assert.equal((await refusal(again.PersonalAccessTokens.show())).status, 401);
});

test('a bearer token works the same way', async () => {
  const here = await world();
  const api = new Gitlab({ host: here.url, oauthToken: here.people.reporter.token });
  assert.equal((await api.Projects.show(here.project.full_path)).id, here.project.id);
});

test('a group gets a subgroup, and that gets a project with a first commit', async () => {
  const here = await world();
  const api = clientFor(here, 'outsider');
  const path = `workshop-${here.people.outsider.id}`;

  const group = await api.Groups.create('The Workshop', path, { visibility: 'private', description: 'We build' });
  assert.deepEqual([group.full_path, group.parent_id, group.visibility], [path, null, 'private']);
  const tools = await api.Groups.create('Tools', 'tools', { parentId: group.id });
  assert.deepEqual(
    [tools.full_path, tools.full_name, tools.parent_id],
    [`${path}/tools`, 'The Workshop / Tools', group.id],
  );
  assert.equal((await api.Groups.show(`${path}/tools`)).id, tools.id);
  assert.equal((await api.Groups.edit(group.id, { description: 'We repair' })).description, 'We repair');
  assert.deepEqual(
    (await api.Groups.allSubgroups(group.id)).map(({ id }) => id),
    [tools.id],
  );

  const project = await api.Projects.create({
    name: 'Hammer + Nail',
    path: 'hammer',
    namespaceId: tools.id,
    initializeWithReadme: true,
  });
  assert.deepEqual([project.path_with_namespace, project.default_branch], [`${path}/tools/hammer`, 'main']);
  assert.equal((await api.Projects.show(`${path}/tools/hammer`)).id, project.id);
  const renamed = await api.Projects.edit(project.id, { name: 'Mallet', description: 'Softer' });
  assert.deepEqual([renamed.name, renamed.description, renamed.path], ['Mallet', 'Softer', 'hammer']);
  assert.deepEqual(
    (await api.Groups.allProjects(group.id, { includeSubgroups: true })).map(({ id }) => id),
    [project.id],
  );
  const [commit] = await api.Commits.all(project.id);
  assert.equal(commit?.title, 'Initial commit');
  assert.match(String(await api.RepositoryFiles.showRaw(project.id, 'README.md', 'main')), /Hammer \+ Nail/);
});

test('a member is added, promoted, listed with inherited members, and removed', async () => {
  const here = await world();
  const { ProjectMembers, GroupMembers } = clientFor(here, 'owner');
  const { id: project_id } = here.project;
  const { id: user_id } = await here.person();

  const added = await ProjectMembers.add(project_id, 20, { userId: user_id, expiresAt: daysFromNow(90) });
  assert.deepEqual([added.id, added.access_level, added.expires_at], [user_id, 20, daysFromNow(90)]);
  const twice = await refusal(ProjectMembers.add(project_id, 30, { userId: user_id }));
  assert.deepEqual([twice.status, twice.text], [409, 'Member already exists']);
  assert.equal((await ProjectMembers.edit(project_id, user_id, 30)).access_level, 30);
  assert.equal((await ProjectMembers.show(project_id, user_id)).access_level, 30);

  const direct = await ProjectMembers.all(project_id);
  assert.deepEqual(
    direct.map(({ id }) => id),
    [user_id],
  );
  const everyone = await ProjectMembers.all(project_id, { includeInherited: true });
  const { guest, planner, reporter, developer, maintainer, owner } = here.people;
  const expected = [guest, planner, reporter, developer, maintainer, owner].map(({ id }) => id).concat(user_id);
  assert.deepEqual(new Set(everyone.map(({ id }) => id)), new Set(expected));

  await ProjectMembers.remove(project_id, user_id);
  assert.deepEqual(await ProjectMembers.all(project_id), []);
  const inGroup = await GroupMembers.add(here.group.id, 10, { userId: user_id });
  assert.equal(inGroup.access_level, 10);
  assert.equal((await ProjectMembers.show(project_id, user_id, { includeInherited: true })).access_level, 10);
});

test('freeze periods are created, shown, updated and deleted', async () => {
  const here = await world();
  const { FreezePeriods } = clientFor(here, 'maintainer');
  const { id } = here.project;

  const nights = await FreezePeriods.create(id, '0 23 * * *', '0 7 * * *', { cronTimezone: 'Europe/Berlin' });
  assert.deepEqual(
    [nights.freeze_start, nights.freeze_end, nights.cron_timezone],
    ['0 23 * * *', '0 7 * * *', 'Europe/Berlin'],
  );
  const weekends = await FreezePeriods.create(id, '0 0 * * sat', '0 0 * * mon');
  assert.equal(weekends.cron_timezone, 'UTC');
  const longer = await FreezePeriods.edit(id, nights.id, { freezeEnd: '0 9 * * *' });
  assert.deepEqual(longer, { ...nights, freeze_end: '0 9 * * *', updated_at: longer.updated_at });
  assert.deepEqual(await FreezePeriods.show(id, nights.id), longer);
  assert.deepEqual(await FreezePeriods.all(id), [longer, weekends]);

  await FreezePeriods.remove(id, nights.id);
  assert.deepEqual(await FreezePeriods.all(id), [weekends]);
});

test('a list is read over all its pages, or one page with its totals', async () => {
  const here = await world();
  const api = clientFor(here, 'maintainer');
  const { id } = here.project;
  const made: number[] = [];
  for (let hour = 0; hour < 7; hour++)
    made.push((await api.FreezePeriods.create(id, `0 ${hour} * * *`, '0 9 * * *')).id);

  const whole = await api.FreezePeriods.all(id, { perPage: 2 });
  assert.deepEqual(
    whole.map((period) => period.id),
    made,
  );
  const { data, paginationInfo } = await api.FreezePeriods.all(id, { perPage: 3, page: 2, showExpanded: true });
  assert.deepEqual(
    data.map((period) => period.id),
    made.slice(3, 6),
  );
  assert.deepEqual(paginationInfo, { total: 7, next: 3, current: 2, previous: 1, perPage: 3, totalPages: 3 });
  assert.equal((await api.FreezePeriods.all(id, { perPage: 2, maxPages: 2 })).length, 4);
});

test('filters are kept from page to page', async () => {
  const here = await world();
  const admin = clientFor(here, 'admin');
  const family = `fam${here.people.admin.id}`;
  const ids: number[] = [];
  for (const name of ['ann', 'bob', 'cid', 'dan', 'eve'])
    ids.push((await admin.Users.create(person(`${family}-${name}`))).id);

  const found = await admin.Users.all({ search: `${family}-`, orderBy: 'username', sort: 'asc', perPage: 2 });
  assert.deepEqual(
    found.map(({ id }) => id),
    ids,
  );
});

test('projects, users and branches support keyset pagination', async () => {
  const here = await world();
  const api = clientFor(here, 'maintainer');
  const ids = [here.project.id];
  for (const name of ['one', 'two', 'three', 'four'])
    ids.push((await api.Projects.create({ name, initializeWithReadme: true })).id);

  const keyset = { pagination: 'keyset', perPage: 2 } as const;
  const projects = await api.Projects.all({ ...keyset, orderBy: 'id', sort: 'asc', membership: true });
  assert.deepEqual(
    projects.map(({ id }) => id),
    ids,
  );
  const latest = await api.Projects.all({ ...keyset, orderBy: 'id', sort: 'desc', owned: true });
  assert.deepEqual(
    latest.map(({ id }) => id),
    ids.slice(1).reverse(),
  );
  const people = await clientFor(here, 'admin').Users.all<false, false, 'keyset'>({
    ...keyset,
    orderBy: 'name',
    sort: 'asc',
  });
  const known = people.map(({ id }) => id);
  assert.equal(new Set(known).size, known.length);
  assert.ok(Object.values(here.people).every(({ id }) => known.includes(id)));

  const project_id = ids[1]!;
  for (const name of ['b', 'a/x', 'c', 'a/y']) await api.Branches.create(project_id, name, 'main');
  const branches = await api.Branches.all<false, 'keyset'>(project_id, keyset);
  assert.deepEqual(
    branches.map(({ name }) => name),
    ['a/x', 'a/y', 'b', 'c', 'main'],
  );
});

test('the client reports refusals', async () => {
  const here = await world();
  const { id } = here.project;
  const { FreezePeriods, Projects, RepositoryFiles, Commits } = clientFor(here, 'maintainer');
  const guest = clientFor(here, 'guest');
  const cron = refusal(FreezePeriods.create(id, 'at night', '0 7 * * *'));
  const calls: [ReturnType<typeof refusal>, number, string][] = [
    [cron, 400, '{"freeze_start":[" is invalid syntax"]}'],
    [
      refusal(FreezePeriods.create(id, '', '0 7 * * *')),
      400,
      `{"freeze_start":[" is invalid syntax","can't be blank"]}`,
    ],
    [refusal(RepositoryFiles.create(id, '../up', 'main', 'x', 'x')), 400, 'file_path should be a valid file path'],
    [refusal(FreezePeriods.show(id, 2_000_000_000)), 404, '404 Not found'],
    [refusal(RepositoryFiles.show(id, 'x', 'main')), 404, '404 Commit Not Found'],
    [refusal(Commits.show(id, 'f'.repeat(40))), 404, '404 Commit Not Found'],
    [refusal(clientFor(here, 'outsider').Projects.show(id)), 404, '404 Project Not Found'],
    [refusal(guest.FreezePeriods.all(id)), 403, '403 Forbidden'],
    [refusal(guest.Commits.all(id)), 403, '403 Forbidden'],
    [refusal(clientOf(here, 'glpat-nobody-has-this').Projects.show(id)), 401, '401 Unauthorized'],
    [refusal(Projects.create({ path: 'x', namespaceId: 2_000_000_000 })), 400, '{"namespace":["is not valid"]}'],
  ];
  for (const [refused, status, text] of calls) {
    const { status: sent, text: said } = await refused;
    assert.deepEqual([sent, said], [status, text]);
  }
});

test('administrators can use sudo, and other users cannot', async () => {
  const here = await world();
  const { developer, maintainer } = here.people;
  const asDeveloper = new Gitlab({ host: here.url, token: here.people.admin.token, sudo: developer.username });
  assert.equal((await asDeveloper.Users.showCurrentUser()).id, developer.id);
  const refused = await refusal(asDeveloper.FreezePeriods.create(here.project.id, '0 1 * * *', '0 2 * * *'));
  assert.equal(refused.status, 403);

  const admin = clientFor(here, 'admin');
  assert.equal((await admin.Users.showCurrentUser({ sudo: maintainer.id })).id, maintainer.id);
  const unknown = await refusal(admin.Users.showCurrentUser({ sudo: 'nobody-at-all' }));
  assert.deepEqual([unknown.status, unknown.text], [404, "404 User with ID or username 'nobody-at-all' Not Found"]);
  const stranger = await refusal(clientFor(here, 'owner').Users.showCurrentUser({ sudo: developer.id }));
  assert.deepEqual([stranger.status, stranger.text], [403, '403 Forbidden - Must be admin to use sudo']);
});
