import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';

const name = 'invitation_mail_preview';
const off = { key: 'boolean', value: false };

/** Features belong to the instance, which all worlds of a file share. */
async function freshWorld(t: TestContext): Promise<World> {
  const here = await world({});
  t.after(() => here.db.deleteFrom('features').execute());
  return here;
}

const set = ({ as }: World, parameters: object, feature = name) =>
  as('admin').post(`/features/${feature}`, { ...parameters });

/** What is listed of the feature. */
async function gatesIn(here: World): Promise<unknown> {
  const { body } = await here.as('admin').get('/features');
  return body.find((feature: { name: string }) => feature.name === name)?.gates;
}

test('a feature is set for everyone or a percentage, listed by name, and deleted', async (t) => {
  const here = await freshWorld(t);
  const { as } = here;
  assert.deepEqual((await as('admin').get('/features')).body, []);

  const conditional = await set(here, { value: 42, key: 'percentage_of_actors' });
  assert.equal(conditional.status, 201);
  const { definition, ...feature } = conditional.body;
  assert.deepEqual(feature, { name, state: 'conditional', gates: [off, { key: 'percentage_of_actors', value: 42 }] });
  assert.equal(definition.type, 'experiment');
  assert.deepEqual((await as('admin').get('/features/definitions')).body, [definition]);

  assert.deepEqual((await set(here, { value: '30' })).body.gates, [
    ...[off, { key: 'percentage_of_actors', value: 42 }, { key: 'percentage_of_time', value: 30 }],
  ]);
  const on = { name, state: 'on', gates: [{ key: 'boolean', value: true }], definition };
  assert.deepEqual((await set(here, { value: 'true' })).body, on);
  const other = await set(here, { value: false }, 'an-old-name');
  assert.deepEqual(other.body, { name: 'an-old-name', state: 'off', gates: [off], definition: null });
  assert.deepEqual((await as('admin').get('/features')).body, [other.body, on]);
  assert.deepEqual((await set(here, { value: 0, key: 'percentage_of_actors' })).body.gates, [off]);
  assert.equal((await set(here, { value: 100, key: 'percentage_of_actors' })).body.state, 'on');

  for (const _ of ['there', 'gone']) assert.equal((await as('admin').delete(`/features/${name}`)).status, 204);
  assert.deepEqual((await as('admin').get('/features')).body, [other.body]);
});

test('a feature is enabled for several named targets at once, and disabled for some of them', async (t) => {
  const here = await freshWorld(t);
  const { people, group, project } = here;
  const { guest, owner } = people;
  const ids = await here.db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', guest.id)
    .executeTakeFirstOrThrow();
  const everybody = {
    user: `${guest.username},${owner.username.toUpperCase()}`,
    group: group.full_path,
    project: project.full_path,
    ...{
      namespace: `${guest.username}, ${group.full_path}`,
      repository: `${project.full_path}.git`,
      feature_group: 'team_members',
    },
  };
  const added = await set(here, { value: true, ...everybody });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  assert.equal(added.body.state, 'conditional');
  const actors = [
    `User:${guest.id}`,
    `User:${owner.id}`,
    `Group:${group.id}`,
    `Project:${project.id}`,
    `Repository:${project.id}`,
  ];
  assert.deepEqual(added.body.gates, [
    off,
    { key: 'actors', value: [...actors, `Namespaces::UserNamespace:${ids.id}`].sort() },
    { key: 'groups', value: ['team_members'] },
  ]);
  // Once more, it is the same. Some clients send empty text for what they leave out.
  const empty = { key: '', feature_group: '', group: '', namespace: '', project: '', repository: '', force: '' };
  assert.deepEqual((await set(here, { value: true, user: guest.username, ...empty })).body, added.body);

  const fewer = await set(here, {
    value: false,
    user: [owner.username],
    namespace: guest.username,
    feature_group: 'team_members',
  });
  assert.deepEqual(fewer.body.gates, [
    off,
    { key: 'actors', value: actors.filter((actor) => actor !== `User:${owner.id}`).sort() },
  ]);
  const many = await set(here, { value: true, user: Array(1000).fill(guest.username).join(',') });
  assert.deepEqual(many.body, fewer.body);
  const tooMany = await set(here, { value: true, user: Array(1001).fill(guest.username).join(',') });
  assert.deepEqual([tooMany.status, tooMany.body.message], [400, 'user has more than 1000 elements']);
});

test('an invalid change is refused, and nothing changes', async (t) => {
  const here = await freshWorld(t);
  const { people } = here;
  await set(here, { value: true, user: people.guest.username });
  const before = await gatesIn(here);
  const bad = (reason: string) => ({ message: `400 Bad request - ${reason}` });
  const param = (text: string) => ({ message: text, error: text });
  const refusals: [object, object][] = [
    [{}, param('value is missing')],
    [{ value: 'maybe' }, bad(`Cannot set '${name}' to "maybe": true, false or a percentage is expected`)],
    [{ value: 101 }, bad(`Cannot set '${name}' to "101": true, false or a percentage is expected`)],
    [{ value: -1 }, bad(`Cannot set '${name}' to "-1": true, false or a percentage is expected`)],
    [{ value: 0.5 }, bad(`Cannot set '${name}' to "0.5": true, false or a percentage is expected`)],
    [{ value: 5, key: 'percentage_of_luck' }, param('key does not have a valid value')],
    [{ value: 5, key: 'percentage_of_time', user: 'x' }, param('key, user are mutually exclusive')],
    [{ value: true, user: 'no-such-user' }, bad('no-such-user is not found!')],
    [{ value: true, user: `${people.guest.username},nobody` }, bad('nobody is not found!')],
    [{ value: true, group: people.guest.username }, bad(`${people.guest.username} is not found!`)],
    [{ value: true, project: `${here.project.full_path}x` }, bad(`${here.project.full_path}x is not found!`)],
    [{ value: true, repository: here.project.full_path }, bad(`${here.project.full_path} is not found!`)],
    [{ value: true, feature_group: 'toString' }, bad('toString is not found!')],
    [{ value: true, group: [] }, param('group is empty')],
    [
      { value: 30, user: people.guest.username },
      bad(`Cannot set '${name}' to "30" for those who are named, only true or false`),
    ],
    [{ value: true, force: 'perhaps' }, param('force is invalid')],
  ];
  for (const [parameters, body] of refusals) {
    const answer = await set(here, parameters);
    assert.deepEqual([answer.status, answer.body], [400, body]);
    assert.deepEqual(await gatesIn(here), before);
  }
  assert.equal((await set(here, { value: true, force: true }, 'x'.repeat(256))).status, 400);

  await set(here, { value: true });
  for (const key of ['percentage_of_actors', 'percentage_of_time']) {
    const answer = await set(here, { value: 30, key });
    assert.deepEqual(answer.body, bad(`Cannot enable ${key.replaceAll('_', ' ')} for a fully-enabled flag`));
  }
  assert.deepEqual(await gatesIn(here), [{ key: 'boolean', value: true }]);
});

test('concurrent changes to a feature leave it as one of them requested', async (t) => {
  const here = await freshWorld(t);
  const answers = await Promise.all(
    [10, 20, 30, 40, 50, 60].map((value) => set(here, { value, key: 'percentage_of_actors' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(6).fill(201),
  );
  const gates = (await gatesIn(here)) as { key: string; value: number }[];
  assert.equal(gates.length, 2);
  assert.ok(gates[1]!.value % 10 === 0);
});

test('a feature that is deleted while it is being set is set', async (t) => {
  const here = await freshWorld(t);
  await set(here, { value: 10 });
  let answer!: ReturnType<typeof set>;
  await here.db.transaction().execute(async (tx) => {
    await tx.selectFrom('features').select('name').forUpdate().execute();
    answer = set(here, { value: 20 });
    await untilLockWaits(here.db);
    await tx.deleteFrom('features').execute();
  });
  assert.equal((await answer).status, 201);
  assert.deepEqual(await gatesIn(here), [off, { key: 'percentage_of_time', value: 20 }]);
});

test('only administrators can read or change features', async (t) => {
  const here = await freshWorld(t);
  await set(here, { value: true });
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const) {
    const client = here.as(persona);
    for (const answer of [
      await client.get('/features'),
      await client.get('/features/definitions'),
      await client.post(`/features/${name}`, { value: false }),
      await client.delete(`/features/${name}`),
    ])
      assert.equal(answer.status, status);
  }
  assert.deepEqual(await gatesIn(here), [{ key: 'boolean', value: true }]);
});

test('a URL with an extra slash still reaches the feature', async (t) => {
  const here = await freshWorld(t);
  const { as } = here;
  assert.equal((await as('admin').post(`/features//${name}`, { value: true })).status, 201);
  assert.deepEqual(await gatesIn(here), [{ key: 'boolean', value: true }]);
  assert.equal((await as('admin').get('//features///definitions?a=b//c')).status, 200);
  assert.equal((await as('admin').delete(`/features//${name}`)).status, 204);
  assert.equal((await as('admin').get(`/projects//${here.project.id}`)).body.id, here.project.id);
  assert.equal((await as('admin').get('/features%2F%2Fdefinitions')).status, 404);
});
