/** To-do items: created when a user is assigned, mentioned or asked for approval, or marks an item themselves. */
import { sql } from 'kysely';
import { type Followed, isAbout, isReaderOf, readsInternalNotesOn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

export type TodoAction =
  | 'assigned'
  | 'mentioned'
  | 'directly_addressed'
  | 'marked'
  | 'review_requested'
  | 'build_failed';

export interface NewTodos {
  /** The users who get an item, if they may read the target and have none pending on it. */
  user_ids: readonly number[];
  /** The user who caused it; for `marked` the owner of the item. */
  author_id: number;
  action: TodoAction;
  target: Followed;
  /** The note that mentions them. */
  note_id?: number | undefined;
  /** Whether only users who may read internal notes on the target get an item. */
  is_internal?: boolean | undefined;
}

/** The columns of to-do items for their target and its project or group, the recipients, and the origin. */
function columnsFor(target: Followed) {
  const { kind } = target;
  const columns = sql`${sql.ref(kind.place_column)}, ${sql.ref(kind.column)}`;
  if (!('id' in target)) return { columns, values: sql`${target.project_id}::bigint, ${target.sha}`, source: sql`` };
  const place = sql.ref(`target.${kind.place_column}`);
  const source = sql`join ${sql.table(target.kind.table)} target on target.id = ${target.id}`;
  return { columns, values: sql`${place}, target.id`, source };
}

/**
 * Creates to-do items on an issue, epic or commit. Users who may not read it (or the internal note) get none, and users
 * with a pending item on it get no second one.
 * @param tx the transaction of the change that causes them
 * @returns the ids of the added items, by user
 */
export async function addTodos(
  tx: Database,
  { user_ids, author_id, action, target, note_id = undefined, is_internal = false }: NewTodos,
): Promise<Map<number, number>> {
  if (user_ids.length === 0) return new Map();
  const { columns, values, source } = columnsFor(target);
  const { rows } = await sql<{ id: number; user_id: number }>`
    insert into todos (user_id, author_id, action_name, note_id, ${columns})
    select users.id, ${author_id}, ${action}, ${note_id ?? null}, ${values}
      from users ${source}
     where users.id = any(${[...new Set(user_ids)]}::bigint[]) and ${isReaderOf(target)} ${is_internal ? sql`and ${readsInternalNotesOn(target)}` : sql``}
     order by users.id
    on conflict do nothing
    returning id, user_id`.execute(tx);
  return new Map(rows.map(({ id, user_id }) => [user_id, id]));
}

/** The same for one user. */
export async function addTodo(
  tx: Database,
  { user_id, ...rest }: Omit<NewTodos, 'user_ids'> & { user_id: number },
): Promise<number | undefined> {
  return (await addTodos(tx, { ...rest, user_ids: [user_id] })).get(user_id);
}

/**
 * Marks a user's to-do items on an issue, epic or commit as done, because the user has changed, closed, commented on or reacted to it.
 * @param tx the transaction of the user's action
 * @returns how many were pending
 */
export async function doneTodos(tx: Database, target: Followed, user_id: number): Promise<number> {
  const { rows } = await sql`
    update todos set state = 'done', updated_at = now() where user_id = ${user_id} and state = 'pending' and ${isAbout('todos', target)}
    returning id`.execute(tx);
  return rows.length;
}

/**
 * Marks all to-do items of one kind on an issue, epic or merge request as done, because their reason is gone.
 * @param tx the transaction in which it went
 */
export async function endTodos(tx: Database, target: Followed, action: TodoAction): Promise<void> {
  await sql`
    update todos set state = 'done', updated_at = now() where action_name = ${action} and state = 'pending' and ${isAbout('todos', target)}`.execute(
    tx,
  );
}

/** Whether a user has a pending to-do item on an issuable. */
export async function hasTodo(db: Database, target: Followed, user_id: number): Promise<boolean> {
  const query = db.selectFrom('todos').select('id').where('user_id', '=', user_id).where('state', '=', 'pending');
  return (await query.where(isAbout('todos', target)).executeTakeFirst()) !== undefined;
}
