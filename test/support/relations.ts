/** Records that leave and arrive without a migration around them. */
import { stepsOfType } from '../../src/areas/migration/bulk_imports/step_rules.ts';
import { type SettlingPlace, settleReferences } from '../../src/areas/migration/settling_actions.ts';
import { isAmong } from '../../src/db/index.ts';
import {
  type Arrival,
  type Arrived,
  arriving,
  type Departure,
  leaving,
  type RecordFailure,
  type Relation,
  type RelationOwner,
} from '../../src/relations/index.ts';
import { addFork } from './merge_requests.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

/** Whether only administrators export a relation, and import it. */
const isOfAdministrators = ({ name }: Relation) => name === 'custom_attributes';

/** The records of a relation as somebody may read them, by default the owner. */
export async function recordsOf(
  { db, people, services: { storages } }: World,
  relation: Relation,
  owner: RelationOwner,
  reader: { id: number } = people.owner,
): Promise<Record<string, unknown>[]> {
  const admin = isOfAdministrators(relation);
  const departure: Departure = { caller: { id: reader.id, admin, external: false }, owner, storages };
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

/** Relations in the order in which they arrive. */
export function inStages(kind: RelationOwner['kind'], relations: readonly Relation[]): Relation[] {
  const names = stepsOfType(kind).map(({ name }) => name);
  return relations.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
}

/** A project or group in which records arrive. */
export interface Destination extends RelationOwner {
  /** By the paths of the source, the paths here. Others lead where they led. */
  paths?: ReadonlyMap<string, string>;
}

/** Where records arrive from this server. Its people and texts mean what they mean already; the owner stands for everybody who is unknown. */
function arrivalAt({ db, services, people }: World, { paths, ...owner }: Destination): Arrival {
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
    is_again: false,
    people: async (_tx, ids) => {
      const here = await known(ids);
      return new Map(ids.map((id) => [id, here.has(id) ? id : people.owner.id]));
    },
    accounts: async (_tx, ids) => new Map([...(await known(ids))].map((id) => [id, id])),
    path: (path) => paths?.get(path) ?? path,
    project: () => undefined,
    group: (id) => id,
    text: async (text) => text,
  };
}

/** Writes records in a transaction. */
export const arrived = (
  here: World,
  relation: Relation,
  destination: Destination,
  values: readonly unknown[],
): Promise<Arrived> =>
  here.db.transaction().execute((tx) => {
    const records = values.map((value, index) => ({ line: index + 1, value: value as Record<string, unknown> }));
    const arrival = arrivalAt(here, destination);
    const importer_id = isOfAdministrators(relation) ? here.people.admin.id : arrival.importer_id;
    return arriving(relation).arrive(tx, { ...arrival, importer_id }, records);
  });

/** Leads what has arrived to what else has. @returns what led nowhere */
export async function settled(here: World, destination: Destination): Promise<RecordFailure[]> {
  const failures: RecordFailure[] = [];
  for (let place: SettlingPlace | undefined = { stage: 0, after: 0 }; place; ) {
    const from: SettlingPlace = place;
    const done = await here.db.transaction().execute((tx) => settleReferences(tx, arrivalAt(here, destination), from));
    failures.push(...done.failures);
    place = done.next;
  }
  return failures;
}

/** An empty group with an empty project, which has the commits of the project of the world. */
export async function emptyPlaces(here: World): Promise<Record<RelationOwner['kind'], Destination>> {
  const { as, project, group: source } = here;
  const path = `copy-of-${project.full_path.replaceAll('/', '-')}`;
  const group = await sent(as('owner').post('/groups', { name: 'Copy', path }));
  // Who has rights by their name is a member there, too.
  for (const [persona, access_level] of [
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await sent(as('owner').post(`/groups/${group.id}/members`, { user_id: here.people[persona].id, access_level }));
  const copy = await addFork(here, 'owner', project, { namespace_id: group.id });
  const paths = new Map([
    [source.full_path, group.full_path],
    [project.full_path, `${group.full_path}/${project.path}`],
  ]);
  return { group: { kind: 'group', id: group.id, paths }, project: { kind: 'project', id: copy.id, paths } };
}
