import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../support/world.ts';

const free = { environment: { COPPICE_LICENSE: 'none' } };

test('the free plan ignores paid parameters, omits their fields, and does not apply a stored membership lock', async () => {
  const here = await world(free);
  const { as, group, project, db } = here;
  const settings = { membership_lock: true, wiki_access_level: 'disabled', description: 'kept' };
  const kept = await as('owner').put(`/groups/${group.id}`, settings);
  assert.equal(kept.status, 200);
  assert.equal(kept.body.description, 'kept');
  assert.ok(!('membership_lock' in kept.body || 'wiki_access_level' in kept.body));
  const stored = db
    .selectFrom('namespaces')
    .select(['membership_lock', 'wiki_access_level'])
    .where('id', '=', group.id);
  assert.deepEqual(await stored.executeTakeFirstOrThrow(), { membership_lock: false, wiki_access_level: 'enabled' });

  await db.updateTable('namespaces').set({ membership_lock: true }).where('id', '=', group.id).execute();
  // The level of a feature of projects needs no plan.
  assert.equal((await as('owner').get(`/projects/${project.id}`)).body.wiki_access_level, 'enabled');

  const { id } = await here.person();
  const added = await as('owner').post(`/projects/${project.id}/members`, { user_id: id, access_level: 30 });
  assert.equal(added.status, 201);
});

test('on the free plan there are no service accounts', async () => {
  const { as, group } = await world(free);
  for (const path of ['/service_accounts', `/groups/${group.id}/service_accounts`]) {
    assert.equal((await as('admin').get(path)).status, 403);
    assert.equal((await as('admin').post(path)).status, 403);
  }
});
