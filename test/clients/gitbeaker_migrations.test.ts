/** The TypeScript client @gitbeaker/rest: migrations by direct transfer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { allowLocalSources } from '../support/source.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('a migration is started, listed and shown with its entities', async () => {
  const here = await world({});
  const { url, group, people } = here;
  await allowLocalSources(here);
  const { Migrations } = clientFor(here, 'owner');
  const source = { url, access_token: people.owner.token };
  const entity = {
    sourceType: 'group_entity',
    sourceFullPath: group.full_path,
    destinationSlug: `${group.path}-copy`,
    destinationNamespace: '',
  };
  const begun = await Migrations.create(source, [entity]);
  assert.equal(begun.status, 'created');
  assert.deepEqual(await Migrations.show(begun.id), begun);
  assert.deepEqual(await Migrations.all({ status: 'created' }), [begun]);
  const [listed] = await Migrations.allEntities({ bulkImportId: begun.id });
  assert.deepEqual(await Migrations.allEntities(), [listed]);
  assert.deepEqual(await Migrations.showEntity(begun.id, listed!.id), listed);
  assert.deepEqual(
    [listed!.source_full_path, listed!.destination_slug, listed!.failures],
    [group.path, `${group.path}-copy`, []],
  );
  const missing = await refusal(Migrations.create(source, [{ ...entity, sourceFullPath: 'nowhere' }]));
  assert.deepEqual([missing.status, missing.text], [422, "Import failed. 'nowhere' not found."]);
  assert.equal((await refusal(clientFor(here, 'developer').Migrations.show(begun.id))).status, 404);
});
