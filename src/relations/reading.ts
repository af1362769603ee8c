/** Reading records: members become columns, by the rules of each column. */
import type { Member, Members, PartsMember, RecordKind, ReferenceMember, Row } from './description.ts';
import { isText, Refusal } from './values.ts';

/** A member that must be looked up before its column is known. */
export interface Pending {
  row: Row;
  column: string;
}

export interface PendingPerson extends Pending {
  source_id: number;
  /** Whether only an account will do. */
  is_account: boolean;
}

export interface PendingReference extends Pending {
  wanted: Record<string, unknown>;
}

/** Records of one kind at one place of the tree, as far as they were read. */
export interface ReadRows {
  kind: RecordKind;
  /** `issues`, or `issues, notes`. */
  relation: string;
  rows: ReadRow[];
  /** By member. */
  parts: Map<PartsMember, ReadRows>;
  people: PendingPerson[];
  references: Map<ReferenceMember, PendingReference[]>;
  fetched: number;
  refused: RefusedRecord[];
  /** Values that are not valid, of records that arrive without them. */
  lost: LostValue[];
}

export interface ReadRow {
  row: Row;
  value: Record<string, unknown>;
  /** The row that this one is a part of. */
  parent: ReadRow | undefined;
  /** Whether it was not written, and its parts must not be either. */
  is_lost?: true;
}

export interface RefusedRecord {
  value: unknown;
  reason: string;
}

interface LostValue extends RefusedRecord {
  row: Row;
  member: string;
}

export function readRows(kind: RecordKind, relation: string): ReadRows {
  const parts = new Map<PartsMember, ReadRows>();
  for (const [name, member] of Object.entries(kind.members))
    if (member.is === 'parts') parts.set(member, readRows(member.kind, `${relation}, ${name}`));
  return { kind, relation, rows: [], parts, people: [], references: new Map(), fetched: 0, refused: [], lost: [] };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A record has at most this many parts of a kind. */
const maximumParts = 100_000;

/** The parts that a member holds. */
function partsIn(member: PartsMember, record: Record<string, unknown>, name: string): readonly unknown[] {
  if (member.given) return member.given(record);
  const value = record[name];
  if (value === null || value === undefined) return [];
  if (member.is_single) return [value];
  return Array.isArray(value) ? value : [];
}

/** Reads a record and its parts; a part that is refused leaves the others alone. */
export function readRecord(into: ReadRows, value: unknown, parent?: ReadRow): void {
  into.fetched += 1;
  try {
    if (!isObject(value)) throw new Refusal('is no object');
    const read: ReadRow = { row: { ...into.kind.always }, value, parent };
    const found: Found = { people: [], references: [], lost: [] };
    readMembers(into.kind.members, value, read.row, found);
    const reason = into.kind.refuse?.(read.row);
    if (reason !== undefined) throw new Refusal(reason);
    into.rows.push(read);
    into.people.push(...found.people);
    for (const each of found.lost) into.lost.push({ ...each, row: read.row, value });
    for (const [member, pending] of found.references) {
      const all = into.references.get(member);
      if (all) all.push(pending);
      else into.references.set(member, [pending]);
    }
    for (const [name, member] of Object.entries(into.kind.members)) {
      if (member.is !== 'parts') continue;
      const below = into.parts.get(member)!;
      const all = partsIn(member, value, name);
      for (const part of all.slice(0, maximumParts)) readRecord(below, part, read);
      if (all.length <= maximumParts) continue;
      below.fetched += 1;
      below.refused.push({ value: null, reason: `are more than ${maximumParts}` });
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    into.refused.push({ value, reason: error.message });
  }
}

interface Found {
  people: PendingPerson[];
  references: [ReferenceMember, PendingReference][];
  lost: Pick<LostValue, 'member' | 'reason'>[];
}

function readMembers(members: Members, value: Record<string, unknown>, row: Row, found: Found): void {
  for (const [name, member] of Object.entries(members)) {
    try {
      readMember(member, givenIn(member, value, name), row, found);
    } catch (error) {
      if (!(error instanceof Refusal) || member.is === 'group') throw error;
      if (member.is !== 'column' || !member.is_lenient) throw new Refusal(`${name} ${error.message}`);
      row[member.column] = member.otherwise ?? null;
      found.lost.push({ member: name, reason: `${name} ${error.message}` });
    }
  }
}

const givenIn = (member: Member, value: Record<string, unknown>, name: string): unknown =>
  value[name] ?? (member.is === 'column' ? member.given?.(value) : null) ?? null;

function readMember(member: Member, value: unknown, row: Row, found: Found): void {
  switch (member.is) {
    case 'column':
      if (value === null && member.is_required) throw new Refusal("can't be blank");
      row[member.column] = value === null ? (member.otherwise ?? null) : member.value.arrives(value);
      return;
    case 'person':
      if (value === null && member.is_account && member.is_required) throw new Refusal("can't be blank");
      row[member.column] = null;
      if (value !== null)
        found.people.push({
          row,
          column: member.column,
          source_id: personIn(value),
          is_account: member.is_account === true,
        });
      return;
    case 'reference':
      row[member.column] = null;
      if (isObject(value) && isStorable(value))
        found.references.push([member, { row, column: member.column, wanted: value }]);
      else if (member.is_required) throw new Refusal("can't be blank");
      return;
    case 'group':
      readMembers(member.members, isObject(value) ? value : {}, row, found);
      return;
    case 'shown':
    case 'late':
    case 'parts':
      return;
  }
}

/** Whether every text in a value is one that statements may compare with. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isStorable);
  return typeof value !== 'string' || isText(value);
}

function personIn(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) throw new Refusal('is invalid');
  return value as number;
}

/** Refuses rows that were read; their parts go with them. */
export function refuseRows(read: ReadRows, rows: ReadonlySet<ReadRow>, reason: string): void {
  if (rows.size === 0) return;
  for (const row of rows) {
    row.is_lost = true;
    read.refused.push({ value: row.value, reason });
  }
  read.rows = read.rows.filter(({ is_lost }) => !is_lost);
}

/** Leaves out rows that are here already, as if they had not been read. */
export function passOver(read: ReadRows, rows: ReadonlySet<ReadRow>): void {
  for (const row of rows) row.is_lost = true;
  read.rows = read.rows.filter(({ is_lost }) => !is_lost);
  read.fetched -= rows.size;
}
