import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

let count = 0;

/** Topics of other tests are in the same database, so each test has words of its own. */
const words = () => {
  const suffix = `t${++count}`;
  return (word: string) => `${word}-${suffix}`;
};

/** As administrators see it, for whom private projects count. */
const topicNamed = async ({ as }: World, name: string, by: Persona | 'anonymous' = 'admin') =>
  (await as(by).get('/topics', { search: name })).body.find((topic: { name: string }) => topic.name === name);

const topicsOf = async ({ as, project }: World) => (await as('owner').get(`/projects/${project.id}`)).body.topics;

test('an administrator creates, changes and deletes a topic, and everyone reads it', async () => {
  const { as } = await world();
  const named = words();
  const made = await as('admin').post('/topics', { name: named('pears'), title: 'Pears', description: 'Fruit' });
  assert.equal(made.status, 201);
  const { id } = made.body;
  const fields = {
    id,
    name: named('pears'),
    title: 'Pears',
    description: 'Fruit',
    total_projects_count: 0,
    avatar_url: null,
  };
  assert.deepEqual(made.body, fields);
  assert.deepEqual((await as('anonymous').get(`/topics/${id}`)).body, fields);

  for (const persona of ['owner', 'anonymous'] as const) {
    const status = persona === 'owner' ? 403 : 401;
    assert.equal((await as(persona).post('/topics', { name: 'x', title: 'x' })).status, status);
    assert.equal((await as(persona).put(`/topics/${id}`, { title: 'x' })).status, status);
    assert.equal((await as(persona).delete(`/topics/${id}`)).status, status);
  }
  const changed = await as('admin').put(`/topics/${id}`, { title: 'Old pears', description: null });
  assert.deepEqual([changed.status, changed.body], [200, { ...fields, title: 'Old pears', description: null }]);
  assert.equal((await as('admin').delete(`/topics/${id}`)).status, 204);
  assert.deepEqual((await as('anonymous').get(`/topics/${id}`)).body, { message: '404 Not found' });
  assert.equal((await as('admin').delete(`/topics/${id}`)).status, 404);
});

test('a name is unique regardless of case, and invalid values are refused', async () => {
  const { as } = await world();
  const named = words();
  const { body } = await as('admin').post('/topics', { name: named('plums'), title: 'Plums' });
  const other = (await as('admin').post('/topics', { name: named('figs'), title: 'Figs' })).body;
  const taken = { message: { name: ['has already been taken'] } };
  assert.deepEqual((await as('admin').post('/topics', { name: named('PLUMS'), title: 'Plums' })).body, taken);
  assert.deepEqual((await as('admin').put(`/topics/${other.id}`, { name: named('plums') })).body, taken);
  assert.equal((await as('admin').put(`/topics/${body.id}`, { name: named('Plums') })).body.name, named('Plums'));
  assert.equal((await as('admin').post('/topics', { name: 'x' })).body.error, 'title is missing, title is empty');
  const long = await as('admin').post('/topics', { name: 'n'.repeat(256), title: 'x' });
  assert.deepEqual(long.body, { message: { name: ['is too long (maximum is 255 characters)'] } });
});

test('a topic that a project is given exists and counts its projects', async () => {
  const here = await world();
  const { as, project, group, db } = here;
  const named = words();
  await as('owner').put(`/projects/${project.id}`, { topics: [named('apples')] });
  const { body } = await as('owner').put(`/projects/${project.id}`, { topics: [named('APPLES'), named('pears')] });
  assert.deepEqual(body.topics, [named('apples'), named('pears')].toSorted());
  const other = await as('owner').post('/projects', {
    name: 'Other',
    namespace_id: group.id,
    topics: [named('Apples')],
  });
  assert.deepEqual(other.body.topics, [named('apples')]);
  assert.equal((await topicNamed(here, named('apples'))).total_projects_count, 2);
  const found = await as('owner').get('/projects', { topic: named('APPLES') });
  assert.equal(found.body.length, 2);

  const listed = (await as('admin').get('/topics', { search: named('') })).body;
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    [named('apples'), named('pears')],
  );
  await as('owner').put(`/projects/${project.id}`, { topics: [named('apples')] });
  const without = (await as('admin').get('/topics', { search: named(''), without_projects: true })).body;
  assert.deepEqual([without.length, without[0].name, without[0].total_projects_count], [1, named('pears'), 0]);
  await db.deleteFrom('projects').where('id', '=', other.body.id).execute();
  assert.equal((await topicNamed(here, named('apples'))).total_projects_count, 1);
});

test('a topic counts for others only the projects that they may know', async () => {
  const here = await world();
  const { as, db, group } = here;
  const named = words();
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  const add = async (visibility: string, topic: string) => {
    const parameters = { name: `${visibility} ${topic}`, namespace_id: group.id, visibility, topics: [topic] };
    const { status, body } = await as('owner').post('/projects', parameters);
    assert.equal(status, 201, JSON.stringify(body));
    return `/projects/${body.id}`;
  };
  for (const visibility of ['public', 'internal', 'private']) await add(visibility, named('apples'));
  const hidden = await add('private', named('pears'));
  const seen = async (name: string) =>
    Promise.all(
      (['anonymous', 'guest', 'owner', 'admin'] as const).map(
        async (by) => (await topicNamed(here, name, by)).total_projects_count,
      ),
    );
  assert.deepEqual(await seen(named('apples')), [1, 2, 2, 3]);
  assert.deepEqual(await seen(named('pears')), [0, 0, 0, 1]);
  const unused = async (by: Persona | 'anonymous') =>
    (await as(by).get('/topics', { search: named(''), without_projects: true })).body.map(
      ({ name }: { name: string }) => name,
    );
  assert.deepEqual(await unused('anonymous'), [named('pears')]);
  assert.deepEqual(await unused('admin'), []);

  await as('owner').put(hidden, { visibility: 'internal', topics: [named('pears'), named('plums')] });
  assert.deepEqual(await seen(named('pears')), [0, 1, 1, 1]);
  await as('owner').put(hidden, { visibility: 'public', topics: [named('plums')] });
  assert.deepEqual(
    [await seen(named('pears')), await seen(named('plums'))],
    [
      [0, 0, 0, 0],
      [1, 1, 1, 1],
    ],
  );
  const { id } = await topicNamed(here, named('apples'));
  await as('admin').put(`/topics/${id}`, { name: named('fruit') });
  assert.deepEqual(await seen(named('fruit')), [1, 2, 2, 3]);
  await db.deleteFrom('projects').where('namespace_id', '=', group.id).execute();
  assert.deepEqual(
    [await seen(named('fruit')), await seen(named('plums'))],
    [
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ],
  );
});

test('projects follow a topic that is renamed, merged or deleted', async () => {
  const here = await world();
  const { as, project, group } = here;
  const named = words();
  await as('owner').put(`/projects/${project.id}`, { topics: [named('apple'), named('fruit')] });
  await as('owner').post('/projects', { name: 'Other', namespace_id: group.id, topics: [named('apple')] });
  const [apple, fruit] = [await topicNamed(here, named('apple')), await topicNamed(here, named('fruit'))];
  const renamed = await as('admin').put(`/topics/${apple.id}`, { name: named('apples') });
  assert.equal(renamed.body.total_projects_count, 2);
  assert.deepEqual(await topicsOf(here), [named('apples'), named('fruit')].toSorted());

  const merging = { source_topic_id: apple.id, target_topic_id: fruit.id };
  assert.equal((await as('owner').post('/topics/merge', merging)).status, 403);
  const same = await as('admin').post('/topics/merge', { ...merging, target_topic_id: apple.id });
  assert.deepEqual([same.status, same.body.message], [400, 'The source topic and the target topic are identical.']);
  assert.equal((await as('admin').post('/topics/merge', { ...merging, target_topic_id: 999_999 })).status, 404);
  const merged = await as('admin').post('/topics/merge', merging);
  assert.deepEqual([merged.status, merged.body.id, merged.body.total_projects_count], [200, fruit.id, 2]);
  assert.equal((await as('admin').get(`/topics/${apple.id}`)).status, 404);
  assert.deepEqual(await topicsOf(here), [named('fruit')]);

  await as('admin').delete(`/topics/${fruit.id}`);
  assert.deepEqual(await topicsOf(here), []);
});
