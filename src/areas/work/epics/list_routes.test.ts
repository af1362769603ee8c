import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { addEpic } from '../../../../test/support/epics.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { refreshAuthorizations } from '../../../access/index.ts';
import { createGroup } from '../../spaces/groups/index.ts';

type Parameters = Record<string, unknown>;
const epicsOf = ({ group }: Pick<World, 'group'>) => `/groups/${group.id}/epics`;

/** The titles of a list. */
async function titles(
  here: World,
  parameters: Parameters = {},
  persona: Persona | 'anonymous' = 'owner',
  group_id = here.group.id,
): Promise<string[]> {
  const { status, body } = await here.as(persona).get(`/groups/${group_id}/epics`, parameters);
  assert.equal(status, 200, JSON.stringify(body));
  return body.map(({ title }: { title: string }) => title);
}

/** A subgroup with the inherited members of its parent. */
async function addSubgroup(here: World, name: string, parent_id = here.group.id): Promise<number> {
  return here.db.transaction().execute(async (tx) => {
    const id = await createGroup(tx, { name, path: name, parent_id, creator_id: here.people.owner.id });
    await refreshAuthorizations(tx, { group_id: parent_id });
    return id;
  });
}

test('epics are listed newest first by default, and in each requested order', async () => {
  const here = await world();
  const made: [string, string, string][] = [
    ['banana', '2020-01-01T00:00:00Z', '2022-01-03T00:00:00Z'],
    ['Apple', '2020-01-02T00:00:00Z', '2022-01-01T00:00:00Z'],
    ['cherry', '2020-01-03T00:00:00Z', '2022-01-02T00:00:00Z'],
    ['Damson', '2020-01-03T00:00:00Z', '2022-01-02T00:00:00Z'],
  ];
  for (const [title, created_at, updated_at] of made) {
    const { iid } = await addEpic(here, { title, created_at });
    await here.as('owner').put(`${epicsOf(here)}/${iid}`, { updated_at, description: 'x' });
  }
  assert.deepEqual(await titles(here), ['Damson', 'cherry', 'Apple', 'banana']);
  assert.deepEqual(
    await titles(here, { sort: 'asc' }),
    ['banana', 'Apple', 'Damson', 'cherry'],
    'equal ones by id, the newest first',
  );
  assert.deepEqual(await titles(here, { order_by: 'updated_at' }), ['banana', 'Damson', 'cherry', 'Apple']);
  assert.deepEqual(await titles(here, { order_by: 'title', sort: 'asc' }), ['Apple', 'banana', 'cherry', 'Damson']);
  assert.deepEqual(await titles(here, { order_by: 'title' }), ['Damson', 'cherry', 'banana', 'Apple']);
  const page = await here.as('guest').get(epicsOf(here), { per_page: 3, page: 2 });
  assert.deepEqual([page.body.length, page.headers.get('x-total'), page.headers.get('x-prev-page')], [1, '4', '1']);
  assert.deepEqual(
    await titles(here, { created_after: '2020-01-02T00:00:00Z', created_before: '2020-01-02T00:00:00Z' }),
    ['Apple'],
  );
  assert.deepEqual(await titles(here, { updated_after: '2022-01-02T12:00:00Z' }), ['banana']);
  assert.deepEqual(await titles(here, { updated_before: '2022-01-01T00:00:00Z' }), ['Apple']);
});

test('each filter matches the right epics', async () => {
  const here = await world();
  const { as, people } = here;
  await addEpic(here, { title: 'red fruit', labels: 'red,fruit', description: 'They grow on trees' });
  await addEpic(here, { title: 'red brick', labels: 'red', confidential: true }, 'planner');
  const bare = await addEpic(here, { title: 'bare', description: '100% tree-free' }, 'planner');
  await as('owner').put(`${epicsOf(here)}/${bare.iid}`, { state_event: 'close' });
  await as('guest').post(`${epicsOf(here)}/${bare.iid}/award_emoji`, { name: 'thumbsup' });
  const cases: [Parameters, string[], (Persona | 'anonymous')?][] = [
    [{}, ['bare', 'red brick', 'red fruit']],
    [{ state: 'opened' }, ['red brick', 'red fruit']],
    [{ state: 'closed' }, ['bare']],
    [{ labels: 'red' }, ['red brick', 'red fruit']],
    [{ labels: 'red,fruit' }, ['red fruit']],
    [{ labels: ['red', 'fruit'] }, ['red fruit']],
    [{ labels: 'Red' }, []],
    [{ labels: 'None' }, ['bare']],
    [{ labels: 'any' }, ['red brick', 'red fruit']],
    [{ not: { labels: 'fruit' } }, ['bare', 'red brick']],
    [{ not: { labels: 'fruit,unknown' } }, ['bare', 'red brick']],
    [{ not: { labels: 'None' } }, ['red brick', 'red fruit']],
    [{ author_id: people.owner.id }, ['red fruit']],
    [{ author_username: people.planner.username.toUpperCase() }, ['bare', 'red brick']],
    [{ author_username: 'nobody-at-all' }, []],
    [{ not: { author_id: people.owner.id } }, ['bare', 'red brick']],
    [{ not: { author_username: people.planner.username } }, ['red fruit']],
    [{ search: 'TREE' }, ['bare', 'red fruit']],
    [{ search: 'red grow' }, ['red fruit']],
    [{ search: '"grow on"' }, ['red fruit']],
    [{ search: '100%' }, ['bare']],
    [{ search: '' }, ['bare', 'red brick', 'red fruit']],
    [{ confidential: true }, ['red brick']],
    [{ confidential: false }, ['bare', 'red fruit']],
    [{ confidential: true }, [], 'guest'],
    [{ my_reaction_emoji: 'thumbsup' }, ['bare'], 'guest'],
    [{ my_reaction_emoji: '+1' }, ['bare'], 'guest'],
    [{ my_reaction_emoji: 'Any' }, ['bare'], 'guest'],
    [{ my_reaction_emoji: 'None' }, ['red fruit'], 'guest'],
    [{ my_reaction_emoji: 'thumbsup' }, []],
    [{ state: 'opened', labels: 'red', search: 'brick', not: { labels: 'fruit' } }, ['red brick']],
  ];
  for (const [parameters, expected, persona] of cases)
    assert.deepEqual(
      await titles(here, parameters, persona),
      expected,
      `${JSON.stringify(parameters)} ${persona ?? ''}`,
    );
});

test('invalid or contradictory filters are refused', async () => {
  const here = await world();
  for (const [parameters, message] of [
    [{ state: 'shut' }, 'state does not have a valid value'],
    [{ order_by: 'due_date' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ author_id: 'me' }, 'author_id is invalid'],
    [{ author_id: 1, author_username: 'x' }, 'author_id, author_username are mutually exclusive'],
    [{ not: { author_id: 1, author_username: 'x' } }, 'not[author_id], not[author_username] are mutually exclusive'],
    [{ created_after: 'then' }, 'created_after is invalid'],
    [{ confidential: 'maybe' }, 'confidential is invalid'],
    [{ include_descendant_groups: 'x' }, 'include_descendant_groups is invalid'],
    [{ search: Array.from({ length: 70 }, (_, index) => `word${index}`).join(' ') }, 'search has more than 64 terms'],
    [{ per_page: 0 }, 'per_page has a value not allowed'],
  ] as [Parameters, string][]) {
    const refused = await here.as('owner').get(epicsOf(here), parameters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.equal((await here.as('owner').get(epicsOf(here), { author_id: 2 ** 53 - 1, page: 2 ** 53 - 1 })).status, 200);
});

test('epics of subgroups are listed, those of ancestors on request, and hidden ones only to their members', async () => {
  const here = await world();
  const { db, group } = here;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  const below = await addSubgroup(here, 'below');
  const deeper = await addSubgroup(here, 'deeper', below);
  await addEpic(here, { title: 'top', created_at: '2020-01-01T00:00:00Z' });
  await addEpic(
    { as: here.as, group: { ...group, id: below } },
    { title: 'below', created_at: '2020-01-03T00:00:00Z' },
  );
  await addEpic(
    { as: here.as, group: { ...group, id: deeper } },
    { title: 'deeper', created_at: '2020-01-02T00:00:00Z' },
  );
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', below).execute();
  await db.updateTable('namespaces').set({ visibility: 'private' }).where('id', '=', deeper).execute();
  assert.deepEqual(await titles(here), ['below', 'deeper', 'top']);
  assert.deepEqual(await titles(here, { state: 'opened', order_by: 'title', sort: 'asc', per_page: 2 }), [
    'below',
    'deeper',
  ]);
  assert.deepEqual(await titles(here, { state: 'opened', order_by: 'title', sort: 'asc', per_page: 2, page: 2 }), [
    'top',
  ]);
  assert.deepEqual(
    await titles(here, {}, 'guest'),
    ['below', 'deeper', 'top'],
    'a member of the group is one below it',
  );
  assert.deepEqual(await titles(here, {}, 'outsider'), ['below', 'top']);
  assert.deepEqual(await titles(here, {}, 'anonymous'), ['below', 'top']);
  assert.deepEqual(await titles(here, { include_descendant_groups: false }), ['top']);
  assert.deepEqual(await titles(here, {}, 'owner', below), ['below', 'deeper']);
  assert.deepEqual(await titles(here, { include_ancestor_groups: true }, 'owner', below), ['below', 'deeper', 'top']);
  assert.deepEqual(
    await titles(here, { include_ancestor_groups: true, include_descendant_groups: false }, 'owner', below),
    ['below', 'top'],
  );
  const [shown] = (await here.as('guest').get(epicsOf(here))).body;
  assert.deepEqual(shown.references, {
    short: '&1',
    relative: `${group.full_path}/below&1`,
    full: `${group.full_path}/below&1`,
  });
});

test('a longer page needs no more statements', async (t) => {
  const here = await world();
  const parent = await addEpic(here);
  for (const n of Array(9).keys())
    await addEpic(here, { title: `epic ${n}`, labels: `label ${n}`, parent_id: parent.id });
  const query = t.mock.method(pg.Client.prototype, 'query');
  const statements = async (per_page: number) => {
    const before = query.mock.callCount();
    assert.equal((await titles(here, { per_page })).length, per_page);
    return query.mock.callCount() - before;
  };
  const few = await statements(1);
  assert.ok(few > 0);
  assert.equal(await statements(9), few);
});
