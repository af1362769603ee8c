/** Skips records that an earlier run has imported. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Arrival } from './arriving.ts';
import type { RecordKind } from './description.ts';
import { isObject } from './reading.ts';
import { Refusal, type Value } from './values.ts';

interface Telling {
  member: string;
  column: string;
  value: Value;
}

/** Identifies a record of a kind within its owner: by its number or name, and when it was created. */
function tellingOf({ members, numbered, title }: RecordKind): Telling[] {
  const names = ['created_at', ...(numbered ? ['iid'] : title === undefined ? [] : [title])];
  return names.flatMap((name) => {
    const member = members[name];
    return member?.is === 'column' ? [{ member: name, column: member.column, value: member.value }] : [];
  });
}

/** The value of a column; null for one that is not valid, which no row has. */
function valueIn(record: unknown, { member, value }: Telling): unknown {
  const given = isObject(record) ? (record[member] ?? null) : null;
  try {
    return given === null ? null : value.arrives(given);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** The records that are not here yet, where an import begins again. Records of a kind without owners are only known when they are written. */
export async function newRecords(
  tx: Database,
  { is_again, owner }: Arrival,
  kind: RecordKind,
  records: readonly unknown[],
): Promise<readonly unknown[]> {
  const key = kind.owner?.[owner.kind];
  const telling = tellingOf(kind);
  if (!is_again || key === undefined || telling.length === 0) return records;
  const asked = records.map((record, index) => ({
    index,
    ...Object.fromEntries(telling.map((each) => [each.column, valueIn(record, each)])),
  }));
  const typed = sql.join(telling.map(({ column, value }) => sql`${sql.ref(column)} ${sql.raw(value.type)}`));
  const isSame = sql.join(
    telling.map(({ column }) => sql`here.${sql.ref(column)} = asked.${sql.ref(column)}`),
    sql` and `,
  );
  const { rows } = await sql<{ index: number }>`
    select distinct index from json_to_recordset(${JSON.stringify(asked)}::json) asked(index integer, ${typed})
      join ${sql.table(kind.table)} here on here.${sql.ref(key)} = ${owner.id} and ${isSame}`.execute(tx);
  const known = new Set(rows.map(({ index }) => index));
  return records.filter((_, index) => !known.has(index));
}
