/** Reading lines of JSON into rows. */
import { sql } from 'kysely';
import { type Database, isDataException, isIntegrityViolation, raiseIid } from '../db/index.ts';
import { nextTurn } from '../foundation/loop_turns.ts';
import type { Arrival, Arrived, ArrivedRecord, ArrivingRelation, RecordFailure } from './arriving.ts';
import type { Relation } from './description.ts';
import { newRecords } from './known.ts';
import { lookUp, withParts } from './looking_up.ts';
import { isObject, type ReadRows, type RefusedRecord, readRecord, readRows } from './reading.ts';
import { writeRecords } from './writing.ts';

const maximumTitle = 255;

function failureOf({ kind, relation }: ReadRows, { value, reason }: RefusedRecord): RecordFailure {
  const title = kind.title === undefined ? undefined : (value as Record<string, unknown> | null)?.[kind.title];
  return {
    relation,
    exception_class: 'InvalidRecord',
    message: reason,
    title: typeof title === 'string' || typeof title === 'number' ? String(title).slice(0, maximumTitle) : null,
    url: null,
  };
}

/** The failures of invalid values, whose records have arrived without them. */
function lostIn(read: ReadRows): RecordFailure[] {
  const here = new Set(read.rows.map(({ row }) => row));
  return read.lost.flatMap(({ row, member, value, reason }) =>
    here.has(row) ? [{ ...failureOf(read, { value, reason }), relation: `${read.relation}, ${member}` }] : [],
  );
}

function outcomeOf(read: ReadRows): Arrived {
  const all = [...withParts(read)].filter(({ fetched }) => fetched > 0);
  const lost = all.flatMap(lostIn);
  const counts = all.map(({ relation, fetched, rows }) => [relation, { fetched, imported: rows.length }] as const);
  const lostCounts = [...Map.groupBy(lost, ({ relation }) => relation)].map(
    ([relation, { length }]) => [relation, { fetched: length, imported: 0 }] as const,
  );
  return {
    counts: Object.fromEntries([...counts, ...lostCounts]),
    failures: [...all.flatMap((each) => each.refused.map((refused) => failureOf(each, refused))), ...lost],
  };
}

/** Numbering goes on after the numbers that arrived. */
async function keepNumbers(tx: Database, { owner }: Arrival, { kind, rows }: ReadRows): Promise<void> {
  if (!kind.numbered || rows.length === 0) return;
  const largest = Math.max(...rows.map(({ row }) => row.iid as number));
  await raiseIid(
    tx,
    owner.kind === 'project' ? { project_id: owner.id } : { namespace_id: owner.id },
    kind.numbered,
    largest,
  );
}

async function written(tx: Database, arrival: Arrival, read: ReadRows): Promise<Arrived> {
  await lookUp(tx, arrival, read);
  await writeRecords(tx, arrival, read);
  await keepNumbers(tx, arrival, read);
  return outcomeOf(read);
}

/** Other requests are served in between. */
const recordsInTurn = 20;

async function arriveTogether(
  tx: Database,
  arrival: Arrival,
  { name, kind, holds }: Relation,
  records: readonly ArrivedRecord[],
): Promise<Arrived> {
  const lines = readRows(kind, name);
  if (!holds) {
    const values = records.map(({ value }) => value);
    for (const [index, value] of (await newRecords(tx, arrival, kind, values)).entries()) {
      if (index % recordsInTurn === recordsInTurn - 1) await nextTurn();
      readRecord(lines, value);
    }
    return written(tx, arrival, lines);
  }
  const objects = records.filter(({ value }) => isObject(value));
  const held = readRows(holds.kind, `${name}, ${holds.name}`);
  const inside = objects.flatMap(({ value }) => holds.records(value));
  for (const record of await newRecords(tx, arrival, holds.kind, inside)) readRecord(held, record);
  const { counts, failures } = await written(tx, arrival, held);
  const others = records
    .filter(({ value }) => !isObject(value))
    .map(({ value }) => failureOf(lines, { value, reason: 'is no object' }));
  const counted = arrival.is_again ? 0 : objects.length;
  return {
    counts: { [name]: { fetched: counted + others.length, imported: counted }, ...counts },
    failures: [...others, ...failures],
  };
}

/** A violation of a database rule that no description covers: the record is invalid, the others are not. */
const refusedOne = ({ name, kind }: Relation, { value }: ArrivedRecord): Arrived => ({
  counts: { [name]: { fetched: 1, imported: 0 } },
  failures: [failureOf(readRows(kind, name), { value, reason: 'is invalid' })],
});

function sumOf(outcomes: readonly Arrived[]): Arrived {
  const counts: Arrived['counts'] = {};
  for (const outcome of outcomes)
    for (const [relation, { fetched, imported }] of Object.entries(outcome.counts)) {
      const sum = counts[relation] ?? { fetched: 0, imported: 0 };
      counts[relation] = { fetched: sum.fetched + fetched, imported: sum.imported + imported };
    }
  return { counts, failures: outcomes.flatMap(({ failures }) => failures) };
}

/** A refused batch is tried again in halves, so that one bad record among many costs few attempts. */
async function arrive(
  tx: Database,
  arrival: Arrival,
  relation: Relation,
  records: readonly ArrivedRecord[],
): Promise<Arrived> {
  await sql`savepoint arrival`.execute(tx);
  try {
    const outcome = await arriveTogether(tx, arrival, relation, records);
    await sql`release savepoint arrival`.execute(tx);
    return outcome;
  } catch (error) {
    if (!isDataException(error) && !isIntegrityViolation(error)) throw error;
    await sql`rollback to savepoint arrival`.execute(tx);
  }
  if (records.length === 1) return refusedOne(relation, records[0]!);
  const middle = Math.ceil(records.length / 2);
  const first = await arrive(tx, arrival, relation, records.slice(0, middle));
  return sumOf([first, await arrive(tx, arrival, relation, records.slice(middle))]);
}

/** A described relation as imports use it. */
export const arriving = (relation: Relation): ArrivingRelation => ({
  name: relation.name,
  arrive: (tx, arrival, records) => arrive(tx, arrival, relation, records),
});
