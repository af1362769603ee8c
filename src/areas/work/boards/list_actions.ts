/** Complete changes to the lists of boards. */
import { sql } from 'kysely';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { badRequest, badRequestAsError, found, invalid } from '../../../http/index.ts';
import type { BoardPlace } from './access.ts';
import { lockBoard, membersAmong } from './actions.ts';
import { boardOf, isThere } from './queries.ts';

const maximumLists = 100;

/** The target of a list, and its limits. */
export interface NewList {
  label_id?: number | undefined;
  assignee_id?: number | undefined;
  milestone_id?: number | undefined;
  iteration_id?: number | undefined;
  max_issue_count?: number | undefined;
  max_issue_weight?: number | undefined;
}

/**
 * The column for the target of a new list, with its value.
 * @throws ApiError 400 for a target that issues of the project or group cannot have
 */
async function targetOf(
  tx: Database,
  place: BoardPlace,
  { label_id, assignee_id, milestone_id, iteration_id }: NewList,
) {
  if (label_id !== undefined) {
    if (!(await isThere(tx, 'labels', place, label_id))) throw badRequestAsError('Label not found!');
    return { label_id };
  }
  if (assignee_id !== undefined) {
    const members = await membersAmong(tx, place, [assignee_id]);
    if (!members.has(assignee_id)) throw badRequestAsError('User not found!');
    return { user_id: assignee_id };
  }
  if (milestone_id !== undefined) {
    if (!(await isThere(tx, 'milestones', place, milestone_id))) throw badRequestAsError('Milestone not found!');
    return { milestone_id };
  }
  if (!(await isThere(tx, 'iterations', place, iteration_id!))) throw badRequestAsError('Iteration not found!');
  return { iteration_id };
}

/**
 * Adds a list after the others.
 * @returns its id
 * @throws ApiError 404, 400
 */
export async function addList(tx: Database, place: BoardPlace, board_id: number, list: NewList): Promise<number> {
  await boardOf(tx, place, board_id);
  const target = await targetOf(tx, place, list);
  await lockBoard(tx, place, board_id);
  const { count, position } = await tx
    .selectFrom('board_lists')
    .select((of) => of.fn.countAll<number>().as('count'))
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('position'))
    .where('board_id', '=', board_id)
    .executeTakeFirstOrThrow();
  if (count >= maximumLists) throw badRequest(`Maximum number of lists (${maximumLists}) exceeded`);
  const { max_issue_count = 0, max_issue_weight = 0 } = list;
  try {
    const { id } = await tx
      .insertInto('board_lists')
      .values({ board_id, ...target, position, max_issue_count, max_issue_weight })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  } catch (error) {
    throw isUniqueViolation(error) ? invalid({ [Object.keys(target)[0]!]: ['has already been taken'] }) : error;
  }
}

/** The changes of a list; omitted members keep their values. */
export interface ListChanges {
  position: number;
  max_issue_count?: number | undefined;
  max_issue_weight?: number | undefined;
  /** For the caller only. */
  collapsed?: boolean | undefined;
}

async function collapse(tx: Database, list_id: number, user_id: number, collapsed: boolean): Promise<void> {
  await (collapsed
    ? sql`
        insert into board_collapsed_lists (list_id, user_id)
        select id, ${user_id} from board_lists where id = ${list_id} for key share on conflict do nothing`
    : sql`delete from board_collapsed_lists where list_id = ${list_id} and user_id = ${user_id}`
  ).execute(tx);
}

/**
 * Moves a list on its board, and changes its limits.
 * @param user_id of the caller
 * @throws ApiError 404, 400 for a position that does not exist on the board, or for the current position if nothing else changes
 */
export async function changeList(
  tx: Database,
  place: BoardPlace,
  { board_id, list_id, user_id }: { board_id: number; list_id: number; user_id: number },
  { position, max_issue_count, max_issue_weight, collapsed }: ListChanges,
): Promise<void> {
  await lockBoard(tx, place, board_id);
  const before = await tx
    .selectFrom('board_lists')
    .select('id')
    .where('board_id', '=', board_id)
    .orderBy('position')
    .orderBy('id')
    .execute();
  const ids = before.map(({ id }) => id);
  found(
    undefined,
    before.find(({ id }) => id === list_id),
  );
  const changesMore = [max_issue_count, max_issue_weight, collapsed].some((given) => given !== undefined);
  if (position < 0 || position >= ids.length || (ids[position] === list_id && !changesMore))
    throw badRequestAsError('List could not be moved!');
  const order = ids.filter((id) => id !== list_id).toSpliced(position, 0, list_id);
  await sql`
    update board_lists set position = given.place - 1
      from unnest(${order}::bigint[]) with ordinality given(id, place)
     where board_lists.id = given.id and board_lists.position <> given.place - 1`.execute(tx);
  await sql`
    update board_lists
       set max_issue_count = coalesce(${max_issue_count ?? null}, max_issue_count), max_issue_weight = coalesce(${max_issue_weight ?? null}, max_issue_weight),
           updated_at = now()
     where id = ${list_id}`.execute(tx);
  if (collapsed !== undefined) await collapse(tx, list_id, user_id, collapsed);
}
