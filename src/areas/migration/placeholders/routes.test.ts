import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { proposalsPage } from '../../../access/index.ts';
import { removeGroup } from '../../people/namespaces/index.ts';
import { ghostUser, removeUser } from '../../people/users/index.ts';
import { accountsOf, keepMemberships, peopleOf, type Source, type SourcePerson } from './actions.ts';
import { reassignPlaceholder, removeOrphanedPlaceholders, tellOfProposal } from './index.ts';

const person = (username: string, public_email: string | null = null): SourcePerson => ({
  username,
  name: `Name of ${username}`,
  public_email,
});

/** A source of which the world's owner migrates into their group. */
async function sourceOf({ group, people, services }: World, described: Record<number, SourcePerson>): Promise<Source> {
  return {
    host: 'git.example.com',
    group_id: group.id,
    importer: { user_id: people.owner.id, source_user_id: 1 },
    ghost_id: await ghostUser(services),
    is_trusted: true,
    described: new Map(Object.entries(described).map(([id, each]) => [Number(id), each])),
  };
}

const meet = ({ db }: World, source: Source, ids: readonly number[]) =>
  db.transaction().execute((tx) => peopleOf(tx, source, ids));

test('people of a trusted source are matched by a confirmed address, and the others get one placeholder each', async () => {
  const here = await world();
  const { db, people } = here;
  const { planner, guest, reporter } = people;
  await db.updateTable('emails').set({ confirmed_at: null }).where('user_id', '=', guest.id).execute();
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', reporter.id).execute();
  const described = {
    1: person('root', `${planner.username}@example.com`),
    2: person('ada', `${planner.username}@EXAMPLE.com`),
    3: person(planner.username),
    4: person('unconfirmed', `${guest.username}@example.com`),
    5: person('blocked', `${reporter.username}@example.com`),
    6: person('../\0 odd \ud800', 'nobody\0\ud800@example.com'),
  };
  const source = await sourceOf(here, described);
  const accounts = await accountsOf(db, source, [1, 2, 3, 4, 5, 6, 7, -1]);
  assert.deepEqual(
    accounts,
    new Map([
      [2, planner.id],
      [1, people.owner.id],
    ]),
  );
  const met = await meet(here, source, [1, 2, 3, 4, 5, 6, 7, 3, -1, 1.5, 1e300]);
  assert.deepEqual([met.get(1), met.get(2), met.get(7)], [people.owner.id, planner.id, source.ghost_id]);
  for (const id of [-1, 1.5, 1e300]) assert.equal(met.get(id), source.ghost_id);
  const ids = [3, 4, 5, 6].map((id) => met.get(id)!);
  assert.equal(new Set([...ids, planner.id, guest.id, reporter.id]).size, 7);
  const users = await db.selectFrom('users').selectAll().where('id', 'in', ids).orderBy('id').execute();
  const names = users.map(({ username }) => username.replace(/\d+$/, ''));
  assert.deepEqual(
    names,
    [planner.username, 'unconfirmed', 'blocked', 'user'].map((name) => `${name}_placeholder_`),
  );
  assert.ok(users.every((user) => user.user_type === 'placeholder' && user.password_digest === null));
  assert.deepEqual(await db.selectFrom('emails').select('id').where('user_id', 'in', ids).execute(), []);
  // A second migration uses them again, another host and another group do not.
  assert.deepEqual(await meet(here, source, [3, 4, 5, 6]), new Map([3, 4, 5, 6].map((id) => [id, met.get(id)!])));
  assert.notEqual((await meet(here, { ...source, host: 'other.example' }, [3])).get(3), met.get(3));
});

test('the owner of an address claimed by a source is asked, and gets nothing before they accept', async () => {
  const here = await world();
  const { as, people, services } = here;
  const { planner } = people;
  const base = '/user/placeholder_proposals';
  const source = await sourceOf(here, {
    2: person('ada', `${planner.username}@example.com`),
    3: person('bob', `${planner.username}@example.com`),
    4: person('eve', 'nobody@example.com'),
  });
  const met = await meet(here, { ...source, is_trusted: false }, [1, 2, 3, 4]);
  const [ada, bob, eve] = [2, 3, 4].map((id) => met.get(id)!) as [number, number, number];
  assert.equal(met.get(1), people.owner.id, 'the owner of the token is known by it');
  assert.ok(![ada, bob, eve].includes(planner.id));
  const shown = {
    source_host: 'git.example.com',
    group_full_path: here.group.full_path,
    imported_by: people.owner.username,
  };
  const proposals = async () => (await as('planner').get(base)).body;
  assert.deepEqual(await proposals(), [
    { id: ada, source_username: 'ada', source_name: 'Name of ada', ...shown },
    { id: bob, source_username: 'bob', source_name: 'Name of bob', ...shown },
  ]);
  assert.deepEqual((await as('guest').get(base)).body, []);
  const mails = await mailOf(services, [tellOfProposal]);
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['Are you ada at git.example.com?', 'Are you bob at git.example.com?'],
  );
  assert.ok(mails.every(({ to }) => JSON.stringify(to).includes(`${planner.username}@example.com`)));
  const todos = async (state: string) =>
    (await as('planner').get('/todos', { state, type: 'Namespace' })).body.map((todo: Record<string, unknown>) => [
      todo.action_name,
      todo.target_url,
      (todo.author as { id: number }).id,
    ]);
  const todo = ['placeholder_proposed', `${services.url}${proposalsPage}`, people.owner.id];
  assert.deepEqual(await todos('pending'), [todo, todo]);
  const listed = (await as('admin').get(`/groups/${here.group.id}/placeholders`)).body;
  assert.deepEqual(
    listed.map(({ proposed_user_id }: { proposed_user_id: number | null }) => proposed_user_id),
    [planner.id, planner.id, null],
  );

  const { body: issue } = await as('guest').post(`/projects/${here.project.id}/issues`, { title: 'Theirs' });
  await here.db.updateTable('issues').set({ author_id: ada }).where('id', '=', issue.id).execute();
  for (const word of ['accept', 'reject']) {
    assert.equal((await as('guest').post(`${base}/${ada}/${word}`)).status, 404);
    assert.equal((await as('planner').post(`${base}/${eve}/${word}`)).status, 404);
    assert.equal((await as('anonymous').post(`${base}/${ada}/${word}`)).status, 401);
  }
  assert.equal((await as('planner').post(`${base}/${bob}/reject`)).status, 204);
  const browser = await browserOf(here, planner);
  const page = await browser.get(proposalsPage);
  assert.ok(page.html.includes('Name of ada') && !page.html.includes('Name of bob'));
  assert.equal((await browser.send(proposalsPage, 'accept', { placeholder_id: String(ada) })).status, 303);
  assert.deepEqual(await proposals(), []);
  assert.deepEqual([await todos('pending'), await todos('done')], [[], [todo, todo]]);
  await performQueued(services, [reassignPlaceholder]);
  const at = `/projects/${here.project.id}/issues/${issue.iid}`;
  assert.equal((await as('guest').get(at)).body.author.id, planner.id);
  assert.equal((await as('admin').get(`/users/${bob}`)).status, 200);
});

test('concurrent batches with the same person create one placeholder', async () => {
  const here = await world();
  const described = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index + 10, person(`p${index}`)]));
  const source = await sourceOf(here, described);
  const ids = Object.keys(described).map(Number);
  const all = await Promise.all([ids, ids.toReversed(), ids.slice(20), ids].map((some) => meet(here, source, some)));
  const made = await here.db
    .selectFrom('placeholders')
    .select('user_id')
    .where('group_id', '=', here.group.id)
    .execute();
  assert.equal(made.length, 50);
  for (const met of all) for (const [id, user_id] of met) assert.equal(user_id, all[0]!.get(id));
});

test('a placeholder cannot act, and only administrators see it', async () => {
  const here = await world();
  const { as, db, group, project, services } = here;
  const source = await sourceOf(here, { 2: person('ada') });
  const id = (await meet(here, source, [2])).get(2)!;
  const { username } = (await as('admin').get(`/users/${id}`)).body;
  const listed = async (persona: 'admin' | 'owner') =>
    (await as(persona).get('/users', { search: username })).body.length;
  assert.deepEqual([await listed('admin'), await listed('owner')], [1, 0]);
  assert.equal((await as('owner').get('/users', { username })).body.length, 0);
  assert.equal((await as('admin').get(`/users/${id}`)).body.using_license_seat, false);

  assert.equal(
    (await as('admin').post(`/users/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status,
    422,
  );
  assert.equal(
    (await as('admin').post(`/users/${id}/impersonation_tokens`, { name: 'x', scopes: ['api'] })).status,
    404,
  );
  const sudo = await as('admin').get('/user', {}, { headers: { sudo: username } });
  assert.equal(sudo.status, 403);
  assert.equal((await as('admin').post(`/users/${id}/block`)).status, 403);
  assert.equal((await as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 })).status, 404);
  const invited = await as('owner').post(`/projects/${project.id}/invitations`, { user_id: id, access_level: 30 });
  assert.equal(invited.body.status, 'error');
  const issue = { title: 'x', description: `@${username}`, assignee_ids: [id] };
  const made = await as('owner').post(`/projects/${project.id}/issues`, issue);
  assert.deepEqual(made.body.assignees, []);
  await as('owner').post(`/projects/${project.id}/issues/${made.body.iid}/notes`, { body: `/assign @${username}` });
  assert.deepEqual((await as('owner').get(`/projects/${project.id}/issues/${made.body.iid}`)).body.assignees, []);
  const mentions = await db.selectFrom('user_mentions').select('user_id').where('user_id', '=', id).execute();
  const todos = await db.selectFrom('todos').select('id').where('user_id', '=', id).execute();
  assert.deepEqual([mentions, todos], [[], []]);
  const { html } = (await as('owner').post('/markdown', { text: `@${username}`, gfm: true })).body;
  assert.ok(!html.includes('href'), html);

  // They go with their group.
  await performJob(services, removeOrphanedPlaceholders);
  assert.equal((await as('admin').get(`/users/${id}`)).status, 200);
  await db.deleteFrom('placeholders').where('user_id', '=', id).execute();
  await performJob(services, removeOrphanedPlaceholders);
  await performQueued(services, [removeUser, removeGroup]);
  assert.equal((await as('admin').get(`/users/${id}`)).status, 404);
});

/** An issue that a placeholder has written and one that they and a guest have reacted to, with a kept membership of the project. */
async function contributed(here: World) {
  const { as, db, project } = here;
  const source = await sourceOf(here, { 2: person('ada'), 3: person('bob') });
  const met = await meet(here, source, [2, 3]);
  const id = met.get(2)!;
  const made = (await as('guest').post(`/projects/${project.id}/issues`, { title: 'One' })).body;
  await db.updateTable('issues').set({ author_id: id }).where('id', '=', made.id).execute();
  await db
    .updateTable('events')
    .set({ author_id: id })
    .where('target_id', '=', made.id)
    .where('target_type', '=', 'Issue')
    .execute();
  const reactions = ['star', 'heart'].map((name) => ({ name, user_id: id, issue_id: made.id as number }));
  await db.insertInto('award_emoji').values(reactions).execute();
  const kept = { user_id: id, access_level: 30, expires_at: null };
  await db
    .transaction()
    .execute((tx) =>
      keepMemberships(tx, { project_id: project.id }, [kept, { ...kept, user_id: here.people.guest.id }]),
    );
  return { id, other: met.get(3)!, issue: made, base: `/groups/${here.group.id}/placeholders` };
}

test('an administrator reassigns all records of a placeholder to an account', async () => {
  const here = await world();
  const { as, db, project, services } = here;
  const { id, other, issue, base } = await contributed(here);
  const { id: user_id, username, client } = await here.person();
  await db.insertInto('award_emoji').values({ name: 'star', user_id, issue_id: issue.id }).execute();

  const shown = { source_host: 'git.example.com', proposed_user_id: null, reassign_to_user_id: null };
  assert.deepEqual((await as('admin').get(base)).body, [
    { id, ...shown, source_user_id: 2, source_username: 'ada', source_name: 'Name of ada', contributions: 4 },
    { id: other, ...shown, source_user_id: 3, source_username: 'bob', source_name: 'Name of bob', contributions: 0 },
  ]);
  for (const [persona, status] of [
    ['owner', 403],
    ['outsider', 404],
    ['anonymous', 401],
  ] as const) {
    assert.equal((await as(persona).get(base)).status, status);
    assert.equal((await as(persona).post(`${base}/${id}/reassign`, { user_id })).status, status);
  }

  const noPerson = { message: '400 Bad request - user_id is not an active person' };
  for (const wrong of [id, other, await ghostUser(services), 2 ** 40]) {
    const refused = await as('admin').post(`${base}/${id}/reassign`, { user_id: wrong });
    assert.deepEqual([refused.status, refused.body], [400, noPerson]);
  }
  assert.equal((await as('admin').post(`${base}/${user_id}/reassign`, { user_id })).status, 404);
  assert.equal((await as('admin').post(`${base}/${id}/reassign`)).status, 400);

  const events = async () =>
    (await db.selectFrom('events').select('id').where('project_id', '=', project.id).execute()).length;
  const before = await events();
  const accepted = await as('admin').post(`${base}/${id}/reassign`, { user_id });
  assert.deepEqual([accepted.status, accepted.body], [202, { message: '202 Accepted' }]);
  assert.equal((await as('admin').get(base)).body[0].reassign_to_user_id, user_id);
  assert.deepEqual(await performQueued(services, [reassignPlaceholder]), ['reassign_placeholder']);

  assert.equal((await as('admin').get(`/users/${id}`)).status, 404);
  assert.deepEqual(
    (await as('admin').get(base)).body.map((row: { id: number }) => row.id),
    [other],
  );
  const seen = await client.get(`/projects/${project.id}/issues/${issue.iid}`);
  assert.deepEqual([seen.status, seen.body.author.username], [200, username]);
  const reactions = await db
    .selectFrom('award_emoji')
    .select(['name', 'user_id'])
    .where('issue_id', '=', issue.id)
    .orderBy('name')
    .execute();
  assert.deepEqual(reactions, [
    { name: 'heart', user_id },
    { name: 'star', user_id },
  ]);
  assert.equal((await as('owner').get(`/projects/${project.id}/members/${user_id}`)).body.access_level, 30);
  assert.equal(await events(), before);
});

test('a placeholder is kept when the account is blocked before the job', async () => {
  const here = await world();
  const { id, base } = await contributed(here);
  const { id: user_id } = await here.person();
  await here.as('admin').post(`${base}/${id}/reassign`, { user_id });
  await here.as('admin').post(`/users/${user_id}/block`);
  await performQueued(here.services, [reassignPlaceholder]);
  const [row] = (await here.as('admin').get(base)).body;
  assert.deepEqual([row.id, row.reassign_to_user_id, row.contributions], [id, null, 4]);
});
