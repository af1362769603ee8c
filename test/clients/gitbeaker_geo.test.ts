/** The TypeScript client @gitbeaker/rest: the sites of an installation, under both names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('nodes and sites are added, listed, changed, repaired and removed, and show their status', async () => {
  const here = await world({});
  const { GeoNodes, GeoSites } = clientFor(here, 'admin');
  const own = 'http://coppice.test';
  for (const geo of [GeoNodes, GeoSites]) {
    const primary = await geo.create(own, own, { primary: true });
    assert.deepEqual([primary.current, primary.primary, primary.repos_max_capacity], [true, true, 25]);
    const options = { selectiveSyncType: 'namespaces' as const, selectiveSyncNamespaceIds: [here.group.id] };
    const secondary = await geo.create('Lisbon', 'https://lisbon.example.com', options);
    assert.deepEqual(await geo.show(secondary.id), secondary);
    assert.deepEqual(await geo.all(), [primary, secondary]);
    const changed = await geo.edit(secondary.id, { reposMaxCapacity: 0, enabled: false });
    assert.deepEqual(
      [changed.repos_max_capacity, changed.enabled, changed.selective_sync_namespace_ids],
      [0, false, [here.group.id]],
    );
    const status = await geo.showStatus(primary.id);
    assert.equal(status.health, 'Geo is not set up on this site: COPPICE_GEO_ROLE is not set.');
    assert.deepEqual(
      (await geo.allStatuses()).map((each) => each.geo_node_id),
      [primary.id],
    );
    assert.deepEqual(await geo.allFailures(), []);
    const repaired = await geo.repair(secondary.id);
    assert.equal(repaired.geo_node_id, secondary.id);
    assert.equal((await refusal(geo.showStatus(secondary.id))).status, 404);
    const kept = await refusal(geo.remove(primary.id));
    assert.deepEqual([kept.status, kept.text], [400, 'The primary cannot be removed while it has secondaries.']);
    await geo.remove(secondary.id);
    await geo.remove(primary.id);
  }
  const refused = await refusal(clientFor(here, 'owner').GeoSites.all());
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);
});
