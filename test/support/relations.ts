/** Records that leave and arrive without a migration around them. */
import { isAmong } from '../../src/db/index.ts';
import {
  type Arrival,
  type Arrived,
  arriving,
  type Departure,
  leaving,
  type Relation,
  type RelationOwner,
} from '../../src/relations/index.ts';
import { addFork } from './merge_requests.ts';
import { sent } from './sent.ts';
import type { Persona, World } from './world.ts';

/** The records of a relation as a persona may read them. */
export async function recordsOf(
  { db, people, services: { storages } }: World,
  relation: Relation,
  owner: RelationOwner,
  persona: Persona = 'owner',
): Promise<Record<string, unknown>[]> {
  const departure: Departure = { caller: { id: people[persona].id, admin: false, external: false }, owner, storages };
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      let text = '';
      for await (const lines of leaving(relation).lines(tx, departure)) text += lines.text;
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    });
}

/** Where records arrive from this server: people, places and texts mean what they mean already. The owner stands for everybody who is unknown. */
function arrivalAt({ db, services, people }: World, owner: RelationOwner): Arrival {
  const known = async (ids: readonly number[]) => {
    const rows = await db
      .selectFrom('users')
      .select('id')
      .where(isAmong('id', ids, 'bigint[]'))
      .execute();
    return new Set(rows.map(({ id }) => id));
  };
  return {
    owner,
    services,
    importer_id: people.owner.id,
    entity_id: owner.id,
    ghost_id: people.owner.id,
    people: async (_tx, ids) => {
      const here = await known(ids);
      return new Map(ids.map((id) => [id, here.has(id) ? id : people.owner.id]));
    },
    accounts: async (_tx, ids) => new Map([...(await known(ids))].map((id) => [id, id])),
    path: (path) => path,
    project: (id) => id,
    text: async (text) => text,
  };
}

/** Writes records in a transaction. */
export const arrived = (here: World, relation: Relation, owner: RelationOwner, values: readonly unknown[]): Promise<Arrived> =>
  here.db.transaction().execute((tx) => {
    const records = values.map((value, index) => ({ line: index + 1, value: value as Record<string, unknown> }));
    return arriving(relation).arrive(tx, arrivalAt(here, owner), records);
  });

/** An empty group with an empty project, which has the commits of the project of the world. */
export async function emptyPlaces(here: World): Promise<Record<RelationOwner['kind'], RelationOwner>> {
  const { as, project } = here;
  const path = `copy-of-${project.full_path.replaceAll('/', '-')}`;
  const group = await sent(as('owner').post('/groups', { name: 'Copy', path }));
  const copy = await addFork(here, 'owner', project, { namespace_id: group.id });
  return { group: { kind: 'group', id: group.id }, project: { kind: 'project', id: copy.id } };
}
