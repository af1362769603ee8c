/** Writing rows as lines of JSON: one statement a relation, whose result is read through a cursor, so that a long one takes no memory. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Member, Members, RecordKind, Relation } from './description.ts';
import type { Batch, Departure, ExportedRelation, Lines } from './exported.ts';

/** A list of expressions with their names, for `select`. */
const selected = (kind: RecordKind, members: Members, departure: Departure): RawBuilder<unknown> =>
  sql.join(
    Object.entries(members)
      .filter(([, member]) => !(member.is === 'parts' && member.only_arrives))
      .map(([name, member]) => sql`${expressionOf(kind, member, departure)} as ${sql.ref(name)}`),
  );

function expressionOf(kind: RecordKind, member: Member, departure: Departure): RawBuilder<unknown> {
  switch (member.is) {
    case 'column': {
      const name = `${kind.table}.${member.column}`;
      return member.value.leaves?.(name) ?? sql.ref(name);
    }
    case 'person':
      return sql.ref(`${kind.table}.${member.column}`);
    case 'shown':
    case 'late':
      return member.expression(departure);
    case 'group':
      return sql`(select row_to_json(record) from (select ${selected(kind, member.members, departure)}) record)`;
    case 'reference':
      return oneOf(
        member.kind,
        sql`${sql.ref(`${member.kind.table}.id`)} = ${sql.ref(`${kind.table}.${member.column}`)}`,
        departure,
      );
    case 'parts': {
      const isPart = sql<SqlBool>`${sql.ref(`${member.kind.table}.${member.key}`)} = ${sql.ref(`${kind.table}.id`)}`;
      return member.is_single ? oneOf(member.kind, isPart, departure) : allOf(member.kind, isPart, departure);
    }
  }
}

/** The rows of a kind that fulfil a condition and that the reader may see, as records in order. */
const recordsOf = (kind: RecordKind, condition: RawBuilder<unknown>, departure: Departure): RawBuilder<unknown> => sql`
  select ${selected(kind, kind.members, departure)} from ${sql.table(kind.table)} where ${isSeen(kind, condition, departure)} order by ${orderOf(kind)}`;

const oneOf = (kind: RecordKind, condition: RawBuilder<unknown>, departure: Departure): RawBuilder<unknown> =>
  sql`(select row_to_json(record) from (${recordsOf(kind, condition, departure)} limit 1) record)`;

const allOf = (kind: RecordKind, condition: RawBuilder<unknown>, departure: Departure): RawBuilder<unknown> =>
  sql`(select coalesce(json_agg(record), '[]') from (${recordsOf(kind, condition, departure)}) record)`;

/** A predicate on rows of a kind: they fulfil a condition, and the reader may see them. */
export const isSeen = (kind: RecordKind, condition: RawBuilder<unknown>, departure: Departure): RawBuilder<SqlBool> =>
  sql`${sql.join([condition, ...(kind.only ? [kind.only] : []), ...(kind.isVisible ? [kind.isVisible(departure)] : [])], sql` and `)}`;

const identityOf = ({ table, identity = 'id' }: RecordKind) => sql.ref(`${table}.${identity}`);

function orderOf(kind: RecordKind): RawBuilder<unknown> {
  const last = kind.is_link
    ? kind.distinct!.map((name) => sql.ref(`${kind.table}.${name}`))
    : [sql.ref(`${kind.table}.id`)];
  return sql.join([...(kind.order ? [kind.order] : []), ...last]);
}

/** A predicate on rows of a kind: they belong to the project or group. */
export const isOwned = ({ table, owner = {}, ...kind }: RecordKind, departure: Departure): RawBuilder<SqlBool> =>
  kind.isOwned?.(departure) ?? sql`${sql.ref(`${table}.${owner[departure.owner.kind]!}`)} = ${departure.owner.id}`;

/** PostgreSQL computes a record when it is fetched, not while it sorts: only ids are sorted. */
function linesOf({ kind }: Relation, departure: Departure, batch: Batch | undefined): RawBuilder<unknown> {
  const id = identityOf(kind);
  const within = batch ? [sql`${id} between ${batch.first_id} and ${batch.last_id}`] : [];
  const condition = isSeen(kind, sql.join([isOwned(kind, departure), ...within], sql` and `), departure);
  return sql`
    select row_to_json(record)::text as line
      from (select ${id} as id from ${sql.table(kind.table)} where ${condition} order by ${orderOf(kind)} offset 0) owned,
           lateral (select ${selected(kind, kind.members, departure)} from ${sql.table(kind.table)} where ${id} = owned.id offset 0) record`;
}

/** Lines may have a megabyte each: the next portion is sized by the last one. */
const portion_bytes = 64 * 1024;
const maximumLines = 1000;

/** Longer ones could not be read back. */
const maximumLine_bytes = 50_000_000;

const cursor = sql.ref('relation_lines');

async function* linesThrough(
  tx: Database,
  relation: Relation,
  departure: Departure,
  batch: Batch | undefined,
): AsyncGenerator<Lines> {
  await sql`declare ${cursor} no scroll cursor for ${linesOf(relation, departure, batch)}`.execute(tx);
  for (let asked = 10; ; ) {
    const { rows } = await sql<{ line: string }>`fetch forward ${sql.lit(asked)} from ${cursor}`.execute(tx);
    // PostgreSQL breaks arrays of records into lines; breaks in texts are escaped.
    const whole = rows.map(({ line }) => line.replaceAll('\n', ''));
    const lines = (await completed(relation, tx, departure, whole)).filter((line) => line.length < maximumLine_bytes);
    const text = lines.map((line) => `${line}\n`).join('');
    if (lines.length > 0) yield { text, count: lines.length };
    if (rows.length < asked) break;
    const wanted = Math.floor((asked * portion_bytes) / Math.max(text.length, 1));
    asked = Math.min(Math.max(wanted, 1), 4 * asked, maximumLines);
  }
  await sql`close ${cursor}`.execute(tx);
}

async function completed(
  { complete }: Relation,
  tx: Database,
  departure: Departure,
  lines: string[],
): Promise<string[]> {
  if (!complete || lines.length === 0) return lines;
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  await complete(tx, departure, records);
  return records.map((record) => JSON.stringify(record));
}

/** The limits of portions of ids, as they are now. */
async function batchesOf({ kind }: Relation, tx: Database, departure: Departure, size: number): Promise<Batch[]> {
  const { rows } = await sql<Batch>`
    select min(id) as first_id, max(id) as last_id
      from (select id, (row_number() over (order by id) - 1) / ${size}::bigint as number from ${sql.table(kind.table)}
             where ${isSeen(kind, isOwned(kind, departure), departure)}) numbered
     group by number order by number`.execute(tx);
  return rows;
}

/** A described relation as exports use it. */
export const leaving = (relation: Relation): ExportedRelation => ({
  name: relation.name,
  form: 'tree',
  is_batched: relation.is_batched === true,
  ...(relation.plan && { plan: relation.plan }),
  batches: (tx, departure, size) => batchesOf(relation, tx, departure, size),
  lines: (tx, departure, batch) => linesThrough(tx, relation, departure, batch),
});

/** The one line of a project or group itself. */
export const leavingSelf = (kind: RecordKind): ExportedRelation => ({
  name: 'self',
  form: 'self',
  is_batched: false,
  batches: async () => [],
  lines: (tx, departure) => linesThrough(tx, { name: 'self', kind }, departure, undefined),
});
