/** The order that people give to the issues of a project by hand. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** How far apart issues stand that nobody has moved: as much as fits in between. The same as in the trigger that places new ones. */
const distance = 2 ** 20;

interface Placed {
  id: number;
  relative_position: number;
}

const placedIn = (tx: Database, project_id: number) =>
  tx
    .selectFrom('issues')
    .select(['id', sql<number>`relative_position`.as('relative_position')])
    .where('project_id', '=', project_id)
    .where('relative_position', 'is not', null);

/** Those that stand next behind or before a position, the nearest first. Of two at one position the newer comes first, as in lists. */
function neighbours(
  tx: Database,
  project_id: number,
  { id, relative_position }: Placed,
  side: 'behind' | 'before',
  count: number,
) {
  const [comparison, tie] = side === 'behind' ? (['>', '<'] as const) : (['<', '>'] as const);
  const [direction, tieDirection] = side === 'behind' ? (['asc', 'desc'] as const) : (['desc', 'asc'] as const);
  return placedIn(tx, project_id)
    .where((eb) =>
      eb.or([
        eb('relative_position', comparison, relative_position),
        eb.and([eb('relative_position', '=', relative_position), eb('id', tie, id)]),
      ]),
    )
    .where('id', '<>', id)
    .orderBy('relative_position', direction)
    .orderBy('id', tieDirection)
    .limit(count)
    .execute();
}

/** The position that the next new issue will have, or a later one. */
async function endOf(tx: Database): Promise<number> {
  const query = tx.selectFrom('issues').select((eb) => eb.fn.max('id').as('newest'));
  return ((await query.executeTakeFirstOrThrow()).newest + 1) * distance;
}

/** How many issues around a place are moved apart when nothing fits in between; four times as many where that is not enough. */
const fewAround = 16;

/**
 * Moves the issues around `after` apart, so that there is room behind it. They keep their order, and their places among the others.
 * @param most how many of each side
 */
async function spread(tx: Database, project_id: number, after: Placed, moving_id: number, most = fewAround): Promise<void> {
  const before = await neighbours(tx, project_id, after, 'before', most);
  const behind = await neighbours(tx, project_id, after, 'behind', most);
  const around = [...before.toReversed(), after, ...behind].filter(({ id }) => id !== moving_id);
  const [first, last] = [around[0]!.relative_position, around.at(-1)!.relative_position];
  // The first may move forwards, the last up to where new ones are put; others stay between their neighbours.
  const low = before.length < most ? first - distance : first;
  const high = behind.length < most ? await endOf(tx) : last;
  const step = Math.floor((high - low) / (around.length + 1));
  if (step < 2) return spread(tx, project_id, after, moving_id, most * 4);
  const ids = around.map(({ id }) => id);
  const positions = around.map((_, index) => low + (index + 1) * step);
  await sql`update issues set relative_position = given.position
              from unnest(${ids}::bigint[], ${positions}::bigint[]) given(id, position) where issues.id = given.id`.execute(tx);
}

async function positionBehind(tx: Database, project_id: number, after_id: number, moving_id: number): Promise<number> {
  for (;;) {
    const after = await placedIn(tx, project_id).where('id', '=', after_id).executeTakeFirstOrThrow();
    const behind = await neighbours(tx, project_id, after, 'behind', 2);
    const next = behind.find(({ id }) => id !== moving_id)?.relative_position ?? (await endOf(tx));
    if (next - after.relative_position > 1) return Math.floor((after.relative_position + next) / 2);
    await spread(tx, project_id, after, moving_id);
  }
}

async function positionBefore(tx: Database, project_id: number, before_id: number, moving_id: number): Promise<number> {
  const before = await placedIn(tx, project_id).where('id', '=', before_id).executeTakeFirstOrThrow();
  const found = await neighbours(tx, project_id, before, 'before', 2);
  const previous = found.find(({ id }) => id !== moving_id);
  return previous ? positionBehind(tx, project_id, previous.id, moving_id) : before.relative_position - distance;
}

/** Whether two issues are there, and the first stands before the second. */
const isInOrder = (after: Placed | undefined, before: Placed | undefined) =>
  after !== undefined &&
  before !== undefined &&
  (after.relative_position < before.relative_position ||
    (after.relative_position === before.relative_position && after.id > before.id));

export interface NewPlace {
  /** Ids of issues of the same project; at least one is given. */
  move_after_id?: number | undefined;
  move_before_id?: number | undefined;
}

/**
 * Puts an issue behind one, before another, or between both.
 * @param tx in it nobody else reorders the project
 * @returns whether there is such a place: the issues are in the project, and stand in this order
 */
export async function reorderIssue(
  tx: Database,
  project_id: number,
  issue_id: number,
  { move_after_id, move_before_id }: NewPlace,
): Promise<boolean> {
  await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().execute();
  const named = [move_after_id, move_before_id].filter((id) => id !== undefined);
  const known = new Map((await placedIn(tx, project_id).where('id', 'in', named).execute()).map((issue) => [issue.id, issue]));
  if (named.some((id) => id === issue_id || !known.has(id))) return false;
  if (named.length === 2 && !isInOrder(known.get(move_after_id!), known.get(move_before_id!))) return false;
  const relative_position =
    move_after_id !== undefined
      ? await positionBehind(tx, project_id, move_after_id, issue_id)
      : await positionBefore(tx, project_id, move_before_id!, issue_id);
  await tx.updateTable('issues').set({ relative_position }).where('id', '=', issue_id).execute();
  return true;
}
