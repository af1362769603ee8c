/** Queries for boards and their lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import type { BoardPlace } from './access.ts';

/** The columns that identify the owner of a board. */
export const ownerOf = ({ kind, id }: Pick<BoardPlace, 'kind' | 'id'>) =>
  kind === 'project' ? { project_id: id } : { group_id: id };

export interface BoardRow {
  id: number;
  name: string;
  hide_backlog_list: boolean;
  hide_closed_list: boolean;
  assignee_id: number | null;
  assignee_wildcard: string | null;
  milestone_id: number | null;
  milestone_wildcard: string | null;
  iteration_id: number | null;
  weight: number | null;
  updated_at: string;
  assignee: UserBasicRow | null;
  label_ids: number[];
}

/** The boards of a project or group, by name. */
export const boardRows = (db: Database, { kind, id }: Pick<BoardPlace, 'kind' | 'id'>) =>
  db
    .selectFrom('boards')
    .select([
      'boards.id',
      'boards.name',
      'boards.hide_backlog_list',
      'boards.hide_closed_list',
      'boards.assignee_id',
      'boards.assignee_wildcard',
      'boards.milestone_id',
      'boards.milestone_wildcard',
      'boards.iteration_id',
      'boards.weight',
      'boards.updated_at',
      sql<UserBasicRow | null>`(select ${userBasicJson('users')} from users where users.id = boards.assignee_id)`.as(
        'assignee',
      ),
      sql<number[]>`array(select label_id from board_labels where board_id = boards.id order by label_id)`.as(
        'label_ids',
      ),
    ])
    .where(kind === 'project' ? 'boards.project_id' : 'boards.group_id', '=', id)
    .orderBy('boards.name')
    .orderBy('boards.id');

/** @throws ApiError 404 for a board of another project or group */
export const boardOf = async (db: Database, place: Pick<BoardPlace, 'kind' | 'id'>, id: number): Promise<BoardRow> =>
  found(undefined, await boardRows(db, place).where('boards.id', '=', id).executeTakeFirst());

export interface ListRow {
  id: number;
  board_id: number;
  /** From 0, without gaps. */
  position: number;
  label_id: number | null;
  user_id: number | null;
  milestone_id: number | null;
  iteration_id: number | null;
  max_issue_count: number;
  max_issue_weight: number;
  limit_metric: 'all_metrics' | 'issue_count' | 'issue_weights' | null;
  updated_at: string;
  /** For the reader. */
  collapsed: boolean;
  assignee: UserBasicRow | null;
}

/** The lists of boards, in their order. A board has at most a hundred. */
export async function listsOf(db: Database, reader_id: number, board_ids: readonly number[]): Promise<ListRow[]> {
  const { rows } = await sql<ListRow>`
    select lists.id, lists.board_id, lists.label_id, lists.user_id, lists.milestone_id, lists.iteration_id, lists.max_issue_count, lists.max_issue_weight,
           lists.limit_metric, lists.updated_at, row_number() over (partition by lists.board_id order by lists.position, lists.id) - 1 as position,
           exists (select from board_collapsed_lists where list_id = lists.id and user_id = ${reader_id}) as collapsed,
           (select ${userBasicJson('users')} from users where users.id = lists.user_id) as assignee
      from board_lists lists where ${isAmong('lists.board_id', board_ids, 'bigint[]')} order by lists.board_id, lists.position, lists.id`.execute(
    db,
  );
  return rows;
}

/** A board with its lists. */
export interface FullBoard {
  board: BoardRow;
  lists: ListRow[];
}

/** @throws ApiError 404 for a board of another project or group */
export async function fullBoard(
  db: Database,
  place: Pick<BoardPlace, 'kind' | 'id'>,
  reader_id: number,
  id: number,
): Promise<FullBoard> {
  const board = await boardOf(db, place, id);
  return { board, lists: await listsOf(db, reader_id, [id]) };
}

/** @throws ApiError 404 */
export const listIn = ({ lists }: Pick<FullBoard, 'lists'>, id: number): ListRow =>
  found(
    undefined,
    lists.find((list) => list.id === id),
  );

const groupsAbove = ({ kind, id }: Pick<BoardPlace, 'kind' | 'id'>) =>
  kind === 'project'
    ? sql`(select parent.traversal_ids from projects join namespaces parent on parent.id = projects.namespace_id where projects.id = ${id})::bigint[]`
    : sql`(select traversal_ids from namespaces where id = ${id})::bigint[]`;

/** A predicate on rows of a table that belong to groups and possibly projects: boards of the project or group can use them. */
function isAvailable(
  table: 'labels' | 'milestones' | 'iterations',
  place: Pick<BoardPlace, 'kind' | 'id'>,
): RawBuilder<SqlBool> {
  const above = sql<SqlBool>`${sql.ref(`${table}.group_id`)} = any(${groupsAbove(place)})`;
  if (place.kind === 'group' || table === 'iterations') return above;
  return sql`(${above} or ${sql.ref(`${table}.project_id`)} = ${place.id})`;
}

/**
 * Whether boards of the project or group can use a row. The row cannot be deleted before the transaction ends. Lock the board only after this call, because deleting a milestone
 * locks its row first and then removes it from boards.
 */
export async function isThere(
  tx: Database,
  table: 'labels' | 'milestones' | 'iterations',
  place: Pick<BoardPlace, 'kind' | 'id'>,
  id: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(table)} where id = ${id} and ${isAvailable(table, place)} for key share of ${sql.table(table)}`.execute(
    tx,
  );
  return rows.length > 0;
}
