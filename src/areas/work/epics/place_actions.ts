/** The order that people give by hand to what is in an epic: its issues, and its children. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Positions lie far apart, so that many fit in between. */
const gap = 2 ** 20;

/** What stands in the order: rows of a table that name the epic in a column. */
const kinds = {
  issues: { table: sql`epic_issues`, epic: sql`epic_id` },
  children: { table: sql`epics`, epic: sql`parent_id` },
} as const;
export type PlacedKind = keyof typeof kinds;

/** The position before all others in an epic, as an expression. */
export const firstPlace = (kind: PlacedKind, epic_id: number) => {
  const { table, epic } = kinds[kind];
  return sql<number>`(select coalesce(min(relative_position), 0) - ${sql.lit(gap)} from ${table} where ${epic} = ${epic_id})`;
};

export interface NewPlace {
  /** What is to stand right before it. */
  move_before_id?: number | undefined;
  /** What is to stand right behind it. */
  move_after_id?: number | undefined;
}

interface Placed {
  id: number;
  relative_position: number;
}

/** Where among the others it is to stand, undefined where there is no such place. */
function indexAmong(others: readonly Placed[], { move_before_id, move_after_id }: NewPlace): number | undefined {
  const indexOf = (id: number | undefined) => others.findIndex((other) => other.id === id);
  const [before, after] = [indexOf(move_before_id), indexOf(move_after_id)];
  if (move_before_id !== undefined && before < 0) return undefined;
  if (move_after_id !== undefined && after < 0) return undefined;
  if (move_before_id === undefined) return after < 0 ? undefined : after;
  return move_after_id !== undefined && after <= before ? undefined : before + 1;
}

/**
 * Puts something to another place in its epic.
 * @param tx in it nobody else changes the order
 * @param id of what is moved, as those in `place` are: of rows of `epic_issues`, or of epics
 * @returns whether there is such a place: what is to be beside it is in the epic, and in that order
 */
export async function moveInEpic(tx: Database, kind: PlacedKind, epic_id: number, id: number, place: NewPlace): Promise<boolean> {
  const { table, epic } = kinds[kind];
  await tx.selectFrom('epics').select('id').where('id', '=', epic_id).forNoKeyUpdate().execute();
  const { rows: others } = await sql<Placed>`
    select id, relative_position from ${table} where ${epic} = ${epic_id} and id <> ${id} order by relative_position, id`.execute(
    tx,
  );
  const index = indexAmong(others, place);
  if (index === undefined) return false;
  const [low, high] = [others[index - 1]?.relative_position, others[index]?.relative_position];
  const [from, to] = [low ?? high! - 2 * gap, high ?? low! + 2 * gap];
  const fits = to - from > 1;
  const moved = fits ? [] : others.map((other, at) => ({ id: other.id, position: (at < index ? at : at + 1) * gap }));
  const all = [...moved, { id, position: fits ? Math.floor((from + to) / 2) : index * gap }];
  const [ids, positions] = [all.map((row) => row.id), all.map(({ position }) => position)];
  await sql`update ${table} set relative_position = given.position
              from unnest(${ids}::bigint[], ${positions}::bigint[]) given(id, position) where ${table}.id = given.id`.execute(tx);
  return true;
}
