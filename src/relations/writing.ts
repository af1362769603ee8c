/** Writing rows that were read: one statement for the rows of each kind, from the records down to their innermost parts. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Arrival } from './arriving.ts';
import type { ArrivingRow, Members, RecordKind } from './description.ts';
import { withParts } from './looking_up.ts';
import { passOver, type ReadRow, type ReadRows, refuseRows } from './reading.ts';
import type { Value } from './values.ts';
import { keepWaiting } from './waiting.ts';

type Types = Readonly<Record<string, Value['type']>>;

function typesOf(members: Members): Types {
  const types: Record<string, Value['type']> = {};
  for (const member of Object.values(members)) {
    if (member.is === 'column') types[member.column] = member.value.type;
    if (member.is === 'person' || member.is === 'reference') types[member.column] = 'bigint';
    if (member.is === 'group') Object.assign(types, typesOf(member.members));
  }
  return types;
}

/** The columns that are written, with their types. */
function columnsOf({ members, always = {}, derives, is_link }: RecordKind, key: string | undefined): Types {
  const fixed = Object.entries(always).map(
    ([name, value]) => [name, typeof value === 'boolean' ? 'boolean' : 'text'] as const,
  );
  return {
    ...(!is_link && { id: 'bigint' }),
    ...typesOf(members),
    ...Object.fromEntries(fixed),
    ...derives?.columns,
    ...(key !== undefined && { [key]: 'bigint' }),
  };
}

/** Gives each row an id, in the order of the file. */
async function numberRows(tx: Database, read: ReadRows): Promise<void> {
  const wanted = [...withParts(read)].filter(({ kind, rows }) => !kind.is_link && rows.length > 0);
  if (wanted.length === 0) return;
  const counts = wanted.map(({ kind, rows }) => sql`(${kind.table}, ${rows.length}::integer)`);
  const { rows: taken } = await sql<{ ids: number[] }>`
    select array(select nextval(sequence) from generate_series(1, count)) as ids
      from (select pg_get_serial_sequence(name, 'id')::regclass as sequence, count from (values ${sql.join(counts)}) wanted(name, count) offset 0) sequences`.execute(
    tx,
  );
  for (const [at, { rows }] of wanted.entries())
    for (const [index, { row }] of rows.entries()) row.id = taken[at]!.ids[index];
}

/** The rows of a kind with the rows of their parts. */
function arrivingRows(read: ReadRows): ArrivingRow[] {
  const all = new Map<ReadRow | undefined, ArrivingRow & { parts: Record<string, ArrivingRow[]> }>();
  for (const each of read.rows) all.set(each, { row: each.row, value: each.value, parts: {} });
  for (const [name, member] of Object.entries(read.kind.members)) {
    if (member.is !== 'parts') continue;
    for (const { parts } of all.values()) parts[name] = [];
    for (const { row, value, parent } of read.parts.get(member)!.rows)
      all.get(parent)?.parts[name]?.push({ row, value, parts: {} });
  }
  return [...all.values()];
}

/** Refuses further rows of one parent that are equal in what makes them distinct. */
function refuseTwins(read: ReadRows): void {
  const { distinct } = read.kind;
  if (!distinct) return;
  const seen = new Set<string>();
  const twins = new Set<ReadRow>();
  for (const each of read.rows) {
    const key = JSON.stringify([each.parent?.row.id, ...distinct.map((name) => each.row[name])]);
    if (seen.has(key)) twins.add(each);
    seen.add(key);
  }
  refuseRows(read, twins, 'has already been taken');
}

/** @returns the ids of the rows that were not there already */
async function insertRows(
  tx: Database,
  { table, is_link, known_by }: RecordKind,
  types: Types,
  rows: readonly ReadRow[],
): Promise<Set<unknown>> {
  const names = Object.keys(types);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const known = known_by ? sql`(${sql.join(known_by.map((name) => sql.ref(name)))})` : sql``;
  const typed = sql.join(names.map((name) => sql`${sql.ref(name)} ${sql.raw(types[name]!)}`));
  const { rows: written } = await sql<{ id: number }>`
    insert into ${sql.table(table)} (${columns}) ${is_link ? sql`` : sql`overriding system value`}
    select ${columns} from json_to_recordset(${JSON.stringify(rows.map(({ row }) => row))}::json) arrived(${typed})
        on conflict ${known} do nothing ${is_link ? sql`` : sql`returning id`}`.execute(tx);
  return new Set(written.map(({ id }) => id));
}

async function deriveRows(tx: Database, arrival: Arrival, read: ReadRows): Promise<void> {
  const refusals = await read.kind.derives?.derive(arrivingRows(read), arrival, tx);
  if (!refusals) return;
  const reasons = new Map([...refusals].map(([{ row }, reason]) => [row, reason]));
  for (const each of [...read.rows]) {
    const reason = reasons.get(each.row);
    if (reason !== undefined) refuseRows(read, new Set([each]), reason);
  }
}

/** @param key the column that names the owner of the rows */
async function writeKind(tx: Database, arrival: Arrival, read: ReadRows, key: string | undefined): Promise<void> {
  const { kind } = read;
  refuseTwins(read);
  if (read.rows.length > 0) {
    await deriveRows(tx, arrival, read);
    const written = await insertRows(tx, kind, columnsOf(kind, key), read.rows);
    const there = new Set(kind.is_link ? [] : read.rows.filter(({ row }) => !written.has(row.id)));
    if (arrival.is_again && key === undefined) passOver(read, there);
    else refuseRows(read, there, 'has already been taken');
  }
  for (const [member, below] of read.parts) {
    // Parts of a record that is refused are not counted: the record is.
    const kept = below.rows.filter(({ parent }) => !parent!.is_lost);
    below.fetched -= below.rows.length - kept.length;
    for (const lost of below.rows) if (lost.parent!.is_lost) lost.is_lost = true;
    below.rows = kept;
    for (const { row, parent } of kept) row[member.key] = parent!.row.id;
    await writeKind(tx, arrival, below, member.key);
  }
  await keepWaiting(tx, arrival, read);
  if (read.rows.length > 0) await kind.follows?.(tx, arrival, arrivingRows(read));
}

/**
 * Writes records, and refuses the ones that exist already.
 * @throws the error of PostgreSQL for values that break a rule of the database
 */
export async function writeRecords(tx: Database, arrival: Arrival, read: ReadRows): Promise<void> {
  const key = read.kind.owner?.[arrival.owner.kind];
  if (key !== undefined) for (const { row } of read.rows) row[key] = arrival.owner.id;
  await numberRows(tx, read);
  await writeKind(tx, arrival, read, key);
}
