/** Complete changes to boards. */
import { sql } from 'kysely';
import { knownIn, knownInGroup } from '../../../access/index.ts';
import { type Database, ofAnyLength, stamped } from '../../../db/index.ts';
import { forbidden, found, invalid, needsPlan, type Plan, reaches } from '../../../http/index.ts';
import { labelsFor } from '../../planning/labels/index.ts';
import type { BoardPlace } from './access.ts';
import { boardOf, isThere, ownerOf } from './queries.ts';

const maximumBoards = 100;

const counting = (db: Database, { kind, id }: BoardPlace) =>
  db
    .selectFrom('boards')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where(kind === 'project' ? 'project_id' : 'group_id', '=', id)
    .executeTakeFirstOrThrow();

/**
 * Adds a board.
 * @returns its id
 * @throws ApiError 400 for too many boards, 403 for a second one if the plan does not allow several
 */
export async function addBoard(tx: Database, place: BoardPlace, plan: Plan, name: string): Promise<number> {
  // Serialises concurrent additions, so that each one sees the boards of the others.
  const table = place.kind === 'project' ? 'projects' : 'namespaces';
  await sql`select from ${sql.table(table)} where id = ${place.id} for no key update`.execute(tx);
  const { count } = await counting(tx, place);
  if (count > 0 && !reaches(plan, 'premium')) throw forbidden(needsPlan('Another board', 'premium'));
  if (count >= maximumBoards) throw invalid({ base: [`Maximum number of boards (${maximumBoards}) exceeded`] });
  const { id } = await tx
    .insertInto('boards')
    .values({ ...ownerOf(place), name })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The fields of a board in a request; omitted ones keep their values. */
export interface BoardChanges {
  name?: string | undefined;
  hide_backlog_list?: boolean | undefined;
  hide_closed_list?: boolean | undefined;
  /** null and 0: all; -1: issues without an assignee. */
  assignee_id?: number | null | undefined;
  /** null and 0: all; -1: issues without a milestone, -2: with an upcoming one, -3: with one that has started. */
  milestone_id?: number | null | undefined;
  /** null and 0: all. */
  iteration_id?: number | null | undefined;
  /** Titles, which replace the previous labels. */
  labels?: readonly string[] | undefined;
  weight?: number | null | undefined;
}

/** The ids of the given users who are members. */
export async function membersAmong(db: Database, { kind, id }: BoardPlace, user_ids: number[]): Promise<Set<number>> {
  const { users } = await (kind === 'project' ? knownIn : knownInGroup)(db, id, { user_ids, group_ids: [] });
  return users;
}

const unknown = (field: string) => invalid({ [field]: ['does not exist'] });

const milestoneWords = new Map([
  [-1, 'none'],
  [-2, 'upcoming'],
  [-3, 'started'],
]);

/**
 * The changed columns of the scope.
 * @throws ApiError 400 for a scope that issues of the project or group cannot match
 */
async function scopeFrom(tx: Database, place: BoardPlace, { assignee_id, milestone_id, iteration_id }: BoardChanges) {
  const columns: Record<string, number | string | null> = {};
  if (assignee_id !== undefined) {
    const user_id = assignee_id !== null && assignee_id > 0 ? assignee_id : null;
    if ((assignee_id ?? 0) < -1) throw unknown('assignee');
    if (user_id !== null && !(await membersAmong(tx, place, [user_id])).has(user_id)) throw unknown('assignee');
    Object.assign(columns, { assignee_id: user_id, assignee_wildcard: assignee_id === -1 ? 'none' : null });
  }
  if (milestone_id !== undefined) {
    const word = milestoneWords.get(milestone_id ?? 0);
    const id = word === undefined && milestone_id !== 0 ? milestone_id : null;
    if (id !== null && !(await isThere(tx, 'milestones', place, id))) throw unknown('milestone');
    Object.assign(columns, { milestone_id: id, milestone_wildcard: word ?? null });
  }
  if (iteration_id !== undefined) {
    const id = iteration_id === 0 ? null : iteration_id;
    if (id !== null && !(await isThere(tx, 'iterations', place, id))) throw unknown('iteration');
    Object.assign(columns, { iteration_id: id });
  }
  return columns;
}

/** Replaces the labels of the scope; missing ones are created, as for issues. */
async function writeScopeLabels(tx: Database, place: BoardPlace, board_id: number, titles: readonly string[]) {
  const labels = await labelsFor(tx, ownerOf(place), titles, { create: true });
  const ids = [...labels.values()].map(({ id }) => id);
  await sql`
    delete from board_labels where board_id = ${board_id} and label_id <> all(${ofAnyLength(ids, 'bigint[]')})`.execute(
    tx,
  );
  await sql`
    insert into board_labels (board_id, label_id)
    select ${board_id}, id from labels where id = any(${ofAnyLength(ids, 'bigint[]')}) for key share on conflict do nothing`.execute(
    tx,
  );
}

/** Locks a board, to serialise changes of it and of its lists. @throws ApiError 404 */
export async function lockBoard(tx: Database, { kind, id }: BoardPlace, board_id: number): Promise<void> {
  const query = tx
    .selectFrom('boards')
    .select('id')
    .where('id', '=', board_id)
    .where(kind === 'project' ? 'project_id' : 'group_id', '=', id)
    .forNoKeyUpdate();
  found(undefined, await query.executeTakeFirst());
}

/**
 * Changes a board.
 * @throws ApiError 404, 400 for an invalid scope
 */
export async function changeBoard(
  tx: Database,
  place: BoardPlace,
  board_id: number,
  { labels, ...changes }: BoardChanges,
): Promise<void> {
  await boardOf(tx, place, board_id);
  const { name, hide_backlog_list, hide_closed_list, weight } = changes;
  const scope = await scopeFrom(tx, place, changes);
  await lockBoard(tx, place, board_id);
  if (labels) await writeScopeLabels(tx, place, board_id, labels);
  await tx
    .updateTable('boards')
    .set(stamped({ name, hide_backlog_list, hide_closed_list, weight, ...scope }, labels !== undefined))
    .where('id', '=', board_id)
    .execute();
}
