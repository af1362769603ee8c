/** Lookups before records are written: the users and records that they name, and the targets of their texts. */
import type { Database } from '../db/index.ts';
import type { Arrival } from './arriving.ts';
import type { Members } from './description.ts';
import { type PendingPerson, type ReadRow, type ReadRows, refuseRows } from './reading.ts';

/** A kind of records and its parts, outermost first. */
export function* withParts(read: ReadRows): Generator<ReadRows> {
  yield read;
  for (const below of read.parts.values()) yield* withParts(below);
}

const peopleNeeded = (members: Members): string[] =>
  Object.values(members).flatMap((member) => {
    if (member.is === 'group') return peopleNeeded(member.members);
    return member.is === 'person' && member.is_required && !member.is_account ? [member.column] : [];
  });

type FindPeople = Arrival['people'];

async function fillSome(tx: Database, find: FindPeople, pending: readonly PendingPerson[]): Promise<void> {
  if (pending.length === 0) return;
  const people = await find(tx, [...new Set(pending.map(({ source_id }) => source_id))]);
  for (const { row, column, source_id } of pending) row[column] = people.get(source_id) ?? null;
}

/** Fills in the ids of the people that the records name. */
async function fillPeople(tx: Database, arrival: Arrival, all: readonly ReadRows[]): Promise<void> {
  const pending = all.flatMap(({ people }) => people);
  await fillSome(
    tx,
    arrival.people,
    pending.filter(({ is_account }) => !is_account),
  );
  const accounts = pending.filter(({ is_account }) => is_account);
  await fillSome(tx, arrival.accounts, accounts);
  const strangers = new Set(accounts.filter(({ row, column }) => row[column] === null).map(({ row }) => row));
  for (const read of all) {
    refuseRows(
      read,
      new Set(read.rows.filter(({ row }) => strangers.has(row))),
      'names a person who has no account here',
    );
    const { kind, rows } = read;
    const needed = peopleNeeded(kind.members);
    for (const { row } of rows) for (const column of needed) row[column] ??= arrival.ghost_id;
  }
}

/** Fills in the ids of the records that the records name: each is looked up once, and all of a kind together. */
async function fillReferences(tx: Database, arrival: Arrival, read: ReadRows): Promise<void> {
  for (const [member, pending] of read.references) {
    const wanted = new Map(pending.map((reference) => [JSON.stringify(reference.wanted), reference.wanted]));
    const ids = await member.find(tx, arrival, [...wanted.values()]);
    const found = new Map([...wanted.keys()].map((key, index) => [key, ids[index] ?? null]));
    for (const reference of pending)
      reference.row[reference.column] = found.get(JSON.stringify(reference.wanted)) ?? null;
    if (!member.is_required) continue;
    const isMissing = ({ row }: ReadRow) => row[member.column] === null;
    refuseRows(read, new Set(read.rows.filter(isMissing)), 'names a record that does not exist here');
  }
}

const markdownColumns = (members: Members): string[] =>
  Object.values(members).flatMap((member) => {
    if (member.is === 'group') return markdownColumns(member.members);
    return member.is === 'column' && member.value.is_markdown ? [member.column] : [];
  });

async function leadTexts(arrival: Arrival, { kind, rows }: ReadRows): Promise<void> {
  const columns = markdownColumns(kind.members);
  for (const { row } of rows)
    for (const column of columns) if (typeof row[column] === 'string') row[column] = await arrival.text(row[column]);
}

/** Completes the columns of records, and refuses records with a required reference that is missing here. */
export async function lookUp(tx: Database, arrival: Arrival, read: ReadRows): Promise<void> {
  const all = [...withParts(read)];
  await fillPeople(tx, arrival, all);
  for (const each of all) {
    await fillReferences(tx, arrival, each);
    await leadTexts(arrival, each);
  }
}
