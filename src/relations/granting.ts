/** Records that give a right to everybody of a level, to a person, or to a group, which is its id at the source. */
import { sql } from 'kysely';
import { knownIn, knownInGroup } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import type { Arrival } from './arriving.ts';
import type { ArrivingRow, Members, RecordKind } from './description.ts';
import { account, column, shown } from './members.ts';
import { integer } from './values.ts';

const noGroup = 'names a group that is not part of the migration';
const stranger = 'names a person or group that does not belong to the project or group';

type Reasons = Map<ArrivingRow, string>;

/** The id here of the group that a record names in `group_id`; null when it names none, undefined when the group is not here. */
function groupOf({ value }: ArrivingRow, { group }: Arrival): number | null | undefined {
  const { group_id } = value;
  if (group_id === null || group_id === undefined) return null;
  return Number.isSafeInteger(group_id) ? group(group_id as number) : undefined;
}

/** Adds the reason against rows whose people and groups are no members here: a right is nobody's who does not belong to the place. */
async function refuseStrangers(
  rows: readonly ArrivingRow[],
  { owner }: Arrival,
  tx: Database,
  reasons: Reasons,
): Promise<Reasons> {
  const named = (column: 'user_id' | 'group_id') => rows.flatMap(({ row }) => (row[column] as number | null) ?? []);
  const asked = { user_ids: named('user_id'), group_ids: named('group_id') };
  const { users, groups } = await (owner.kind === 'project' ? knownIn : knownInGroup)(tx, owner.id, asked);
  for (const each of rows) {
    const { user_id = null, group_id = null } = each.row as { user_id?: number | null; group_id?: number | null };
    const isKnown = (user_id === null || users.has(user_id)) && (group_id === null || groups.has(group_id));
    if (!isKnown && !reasons.has(each)) reasons.set(each, stranger);
  }
  return reasons;
}

/**
 * Completes the columns `access_level`, `user_id` and `group_id`, of which one counts: other servers give a person or a group a level, too.
 * @param levels the access levels that may be granted
 * @returns the reasons against rows that give the right to nobody here
 */
function completeGrants(
  rows: readonly ArrivingRow[],
  arrival: Arrival,
  tx: Database,
  levels: readonly number[],
): Promise<Reasons> {
  const reasons: Reasons = new Map();
  for (const each of rows) {
    const { row } = each;
    const group_id = groupOf(each, arrival);
    row.group_id = row.user_id === null ? (group_id ?? null) : null;
    if (group_id === undefined) reasons.set(each, noGroup);
    else if (row.user_id !== null || row.group_id !== null) row.access_level = null;
    else if (!levels.includes(row.access_level as number)) reasons.set(each, 'names no level, no person and no group');
  }
  return refuseStrangers(rows, arrival, tx, reasons);
}

/** A right that the rows of a table give, each to everybody of a level, to a person or to a group. */
interface Grants {
  table: RecordKind['table'];
  /** The column that says which right, and its name there. */
  right: readonly [column: string, name: string];
  /** Levels that may be given. */
  levels: readonly number[];
  /** What the rows say besides. */
  more?: Members;
}

/** How the rows that give a right leave and arrive. */
export const grantsOf = ({ table, right: [column_name, name], levels, more = {} }: Grants): RecordKind => ({
  table,
  only: sql`${sql.ref(`${table}.${column_name}`)} = ${sql.lit(name)}`,
  members: {
    access_level: column('access_level', integer(0, 60)),
    user_id: account('user_id'),
    group_id: shown(sql`${sql.ref(`${table}.group_id`)}`),
    ...more,
    created_at: shown(sql`null`),
    updated_at: shown(sql`null`),
  },
  always: { [column_name]: name },
  stays: {},
  distinct: ['access_level', 'user_id', 'group_id'],
  derives: {
    columns: { group_id: 'bigint' },
    derive: (rows, arrival, tx) => completeGrants(rows, arrival, tx, levels),
  },
});

/** Completes the column `group_id` of rows that name nothing but a group. */
export function completeGroups(rows: readonly ArrivingRow[], arrival: Arrival, tx: Database): Promise<Reasons> {
  const reasons: Reasons = new Map();
  for (const each of rows) {
    each.row.group_id = groupOf(each, arrival) ?? null;
    if (each.row.group_id === null) reasons.set(each, noGroup);
  }
  return refuseStrangers(rows, arrival, tx, reasons);
}

/** Refuses rows that name a person who is no member here, in the column `user_id`. */
export const refuseStrange = (rows: readonly ArrivingRow[], arrival: Arrival, tx: Database): Promise<Reasons> =>
  refuseStrangers(rows, arrival, tx, new Map());
