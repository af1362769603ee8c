/** Manual orders, such as the order of a project's issues or an epic's children. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';

/** The gap between new positions, which leaves room for many insertions. The trigger that positions new issues uses the same value. */
export const distance = 2 ** 20;

/** An order: the rows of a table with the same value in one column, sorted by `relative_position`. */
export interface Order {
  table: string;
  /** The column that determines the order of a row, and its value here. */
  scope: string;
  scope_id: number;
  /** Further values of the column whose rows belong to this order. */
  also?: readonly number[];
  /** The table that `scope` refers to. The row of `scope_id` is locked to serialise changes of an order. */
  scopes: string;
  /** The direction of ids among rows at the same position, as in the lists of this order. */
  ties: 'asc' | 'desc';
  /** The position of the next new row, if new rows are added at the end. */
  end?: RawBuilder<number>;
}

/** Ids of neighbouring rows in the same order; at least one is required. */
export interface NewPosition {
  /** The row directly before the new position. */
  after?: number | undefined;
  /** The row directly after the new position. */
  before?: number | undefined;
}

interface Positioned {
  id: number;
  relative_position: number;
}

const scopesOf = ({ scope_id, also = [] }: Order) => sql`${[scope_id, ...also]}::bigint[]`;

async function positionedByIds(tx: Database, order: Order, ids: readonly number[]): Promise<Map<number, Positioned>> {
  const { rows } = await sql<Positioned>`
    select id, relative_position from ${sql.table(order.table)}
     where id = any(${ofAnyLength(ids, 'bigint[]')}) and ${sql.ref(order.scope)} = any(${scopesOf(order)}) and relative_position is not null`.execute(
    tx,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The rows next to a position, nearest first. */
async function neighbors(
  tx: Database,
  order: Order,
  { id, relative_position }: Positioned,
  side: 'before' | 'after',
  count: number,
): Promise<Positioned[]> {
  const isAscending = (direction: 'asc' | 'desc') => (direction === 'asc') === (side === 'after');
  const beyond = (direction: 'asc' | 'desc') => (isAscending(direction) ? sql`>` : sql`<`);
  const by = (direction: 'asc' | 'desc') => (isAscending(direction) ? sql`asc` : sql`desc`);
  const nearest = sql`order by relative_position ${by('asc')}, id ${by(order.ties)} limit ${count}`;
  // One query per scope, as indexed.
  const { rows } = await sql<Positioned>`
    select near.id, near.relative_position
      from unnest(${scopesOf(order)}) scopes(scope_id),
           lateral (
             select id, relative_position from ${sql.table(order.table)}
              where ${sql.ref(order.scope)} = scopes.scope_id and relative_position is not null
                and (relative_position ${beyond('asc')} ${relative_position} or (relative_position = ${relative_position} and id ${beyond(order.ties)} ${id}))
              ${nearest}) near
     ${nearest}`.execute(tx);
  return rows;
}

/** A position after the last row; if new rows are added at the end, the position of the next new row. */
async function endAfter(tx: Database, { end }: Order, last: Positioned): Promise<number> {
  if (!end) return last.relative_position + 2 * distance;
  const { rows } = await sql<{ position: number }>`select ${end} as position`.execute(tx);
  return rows[0]!.position;
}

/** The number of rows around a position that are respaced when the gap is exhausted; four times as many if that is not enough. */
const fewAround = 16;

/**
 * Respaces the rows around `after`, to create a gap after it. Their order does not change.
 * @param most the number of rows on each side
 */
async function spread(
  tx: Database,
  order: Order,
  after: Positioned,
  moving_id: number,
  most = fewAround,
): Promise<void> {
  const before = await neighbors(tx, order, after, 'before', most);
  const behind = await neighbors(tx, order, after, 'after', most);
  const around = [...before.toReversed(), after, ...behind].filter(({ id }) => id !== moving_id);
  const [first, last] = [around[0]!, around.at(-1)!];
  // The outermost rows may move outwards if nothing follows them; others stay between their neighbours.
  const low = before.length < most ? first.relative_position - distance : first.relative_position;
  const high = behind.length < most ? await endAfter(tx, order, last) : last.relative_position;
  const step = Math.floor((high - low) / (around.length + 1));
  if (step < 2) return spread(tx, order, after, moving_id, most * 4);
  const ids = around.map(({ id }) => id);
  const positions = around.map((_, index) => low + (index + 1) * step);
  const table = sql.table(order.table);
  await sql`update ${table} set relative_position = given.position
              from unnest(${ids}::bigint[], ${positions}::bigint[]) given(id, position) where ${table}.id = given.id`.execute(
    tx,
  );
}

async function positionAfter(tx: Database, order: Order, after_id: number, moving_id: number): Promise<number> {
  for (;;) {
    const after = (await positionedByIds(tx, order, [after_id])).get(after_id)!;
    const found = await neighbors(tx, order, after, 'after', 2);
    const next = found.find(({ id }) => id !== moving_id)?.relative_position ?? (await endAfter(tx, order, after));
    if (next - after.relative_position > 1) return Math.floor((after.relative_position + next) / 2);
    await spread(tx, order, after, moving_id);
  }
}

async function positionBefore(tx: Database, order: Order, before: Positioned, moving_id: number): Promise<number> {
  const found = await neighbors(tx, order, before, 'before', 2);
  const previous = found.find(({ id }) => id !== moving_id);
  return previous ? positionAfter(tx, order, previous.id, moving_id) : before.relative_position - distance;
}

/** Whether the first of two different rows comes before the second. */
function isInOrder({ ties }: Order, one: Positioned, other: Positioned): boolean {
  if (one.relative_position !== other.relative_position) return one.relative_position < other.relative_position;
  return ties === 'asc' ? one.id < other.id : one.id > other.id;
}

/**
 * Moves a row after another row, before one, or between two.
 * @returns false if the two rows are in the opposite order
 */
export async function reorder(
  tx: Database,
  order: Order,
  id: number,
  { after, before }: NewPosition,
): Promise<boolean> {
  await sql`select from ${sql.table(order.scopes)} where id = ${order.scope_id} for no key update`.execute(tx);
  const named = [after, before].filter((each) => each !== undefined);
  const known = await positionedByIds(tx, order, named);
  if (named.length === 0 || named.some((each) => each === id || !known.has(each))) return false;
  if (after !== undefined && before !== undefined && !isInOrder(order, known.get(after)!, known.get(before)!))
    return false;
  const position =
    after !== undefined
      ? await positionAfter(tx, order, after, id)
      : await positionBefore(tx, order, known.get(before!)!, id);
  await sql`update ${sql.table(order.table)} set relative_position = ${position} where id = ${id}`.execute(tx);
  return true;
}

/** An expression for a position before all others. */
export const firstPosition = ({ table, scope, scope_id }: Order): RawBuilder<number> =>
  sql`(select coalesce(min(relative_position), 0) - ${sql.lit(distance)} from ${sql.table(table)} where ${sql.ref(scope)} = ${scope_id})`;
