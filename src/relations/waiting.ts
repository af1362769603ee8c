/** References of imported records to records that may arrive later: stored in `waiting_references`, and resolved at the end. */
import { sql } from 'kysely';
import { type Database, isAmong } from '../db/index.ts';
import type { Arrival, Arrived } from './arriving.ts';
import type { LateMember, RecordKind, Relation, Waiting } from './description.ts';
import type { RelationOwner } from './exported.ts';
import type { ReadRows } from './reading.ts';

/** A longer one names nothing. */
const maximum_characters = 1_000;

const ownerColumn = ({ kind }: RelationOwner) => (kind === 'project' ? 'project_id' : 'group_id');

/** Stores the references of the rows of a kind. */
export async function keepWaiting(tx: Database, { owner }: Arrival, { kind, relation, rows }: ReadRows): Promise<void> {
  const waiting = Object.entries(kind.members).flatMap(([name, member]) => {
    if (member.is !== 'late') return [];
    return rows.flatMap(({ row, value }) => {
      const wanted = JSON.stringify(value[name] ?? null);
      if (wanted === 'null') return [];
      const kept = wanted.length > maximum_characters ? 'null' : wanted;
      return {
        [ownerColumn(owner)]: owner.id,
        relation: `${relation}, ${name}`,
        row_id: row.id as number,
        wanted: kept,
      };
    });
  });
  if (waiting.length > 0) await tx.insertInto('waiting_references').values(waiting).execute();
}

interface WaitingMember {
  table: string;
  member: LateMember;
}

/** The late members of a kind and its parts, by the name of their relation. */
function* placesIn(kind: RecordKind, relation: string): Generator<[string, WaitingMember]> {
  for (const [name, member] of Object.entries(kind.members)) {
    if (member.is === 'late') yield [`${relation}, ${name}`, { table: kind.table, member }];
    if (member.is === 'parts') yield* placesIn(member.kind, `${relation}, ${name}`);
  }
}

/** @returns the ids of the rows that name something now */
async function lead(
  tx: Database,
  arrival: Arrival,
  { table, member }: WaitingMember,
  waiting: readonly Waiting[],
): Promise<Set<number>> {
  const found = await member.find(tx, arrival, waiting);
  if (found.size > 0)
    await sql`
      update ${sql.table(table)} set ${sql.ref(member.column)} = found.id
        from unnest(${[...found.keys()]}::bigint[], ${[...found.values()]}::bigint[]) found(row_id, id)
       where ${sql.ref(`${table}.id`)} = found.row_id`.execute(tx);
  return new Set(found.keys());
}

async function leadAll(
  tx: Database,
  arrival: Arrival,
  place: WaitingMember,
  waiting: readonly Waiting[],
): Promise<Set<number>> {
  if (!place.member.is_alone) return lead(tx, arrival, place, waiting);
  const led = new Set<number>();
  for (const each of waiting) for (const id of await lead(tx, arrival, place, [each])) led.add(id);
  return led;
}

const maximumSettled = 200;

/**
 * Resolves some of the references to records that have arrived. Each is tried once.
 * @param relations the owner's relations
 * @returns how many led somewhere, by relation; undefined when none was left
 */
export async function settleWaiting(
  tx: Database,
  arrival: Arrival,
  relations: readonly Relation[],
): Promise<Arrived | undefined> {
  const { owner } = arrival;
  const rows = await tx
    .selectFrom('waiting_references')
    .select(['id', 'relation', 'row_id', 'wanted'])
    .where(ownerColumn(owner), '=', owner.id)
    .orderBy('id')
    .limit(maximumSettled)
    .execute();
  if (rows.length === 0) return undefined;
  const places = new Map(relations.flatMap(({ name, kind }) => [...placesIn(kind, name)]));
  const arrived: Arrived = { counts: {}, failures: [] };
  for (const [relation, group] of Map.groupBy(rows, (row) => row.relation)) {
    const place = places.get(relation);
    const waiting = group.map(({ row_id, wanted }): Waiting => ({ id: row_id, wanted }));
    const led = place ? await leadAll(tx, arrival, place, waiting) : new Set<number>();
    const lost = waiting.filter(({ id }) => !led.has(id));
    arrived.counts[relation] = { fetched: waiting.length, imported: waiting.length - lost.length };
    const failure = {
      relation,
      exception_class: 'InvalidRecord',
      message: 'names a record that is not here',
      title: null,
      url: null,
    };
    arrived.failures.push(...lost.map(() => failure));
  }
  const ids = rows.map(({ id }) => id);
  await tx
    .deleteFrom('waiting_references')
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  return arrived;
}
