/** To-dos: what waits for somebody because he was assigned, named or asked, or because he wants to be reminded. */
import { sql } from 'kysely';
import { isAbout, isReaderOf, type Noteable, readsInternalNotesOn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

export type TodoAction = 'assigned' | 'mentioned' | 'directly_addressed' | 'marked';

export interface NewTodos {
  /** Who gets one, if he may read the target and has none waiting on it. */
  user_ids: readonly number[];
  /** Who caused it; for `marked` the user himself. */
  author_id: number;
  action: TodoAction;
  target: Noteable;
  /** The note that names them. */
  note_id?: number | undefined;
}

/**
 * Gives people a to-do on an issue or epic. Whoever may not read it gets none (nor, of an internal note, whoever may not read those), and nobody gets a second one
 * on what he has a pending one on.
 * @param tx the transaction of the change that asks for them
 * @returns the ids of those that were added, by user
 */
export async function addTodos(
  tx: Database,
  { user_ids, author_id, action, target, note_id = undefined }: NewTodos,
): Promise<Map<number, number>> {
  if (user_ids.length === 0) return new Map();
  const { kind } = target;
  const isHidden = note_id === undefined ? sql`false` : sql`(select internal from notes where id = ${note_id})`;
  const { rows } = await sql<{ id: number; user_id: number }>`
    insert into todos (user_id, author_id, action_name, note_id, ${sql.ref(kind.place_column)}, ${sql.ref(kind.column)})
    select users.id, ${author_id}, ${action}, ${note_id ?? null}, target.${sql.ref(kind.place_column)}, target.id
      from users, ${sql.table(kind.table)} target
     where target.id = ${target.id} and users.id = any(${[...new Set(user_ids)]}::bigint[]) and ${isReaderOf(target)}
       and (not ${isHidden} or ${readsInternalNotesOn(target)})
     order by users.id
    on conflict do nothing
    returning id, user_id`.execute(tx);
  return new Map(rows.map(({ id, user_id }) => [user_id, id]));
}

/** The same for one person. */
export async function addTodo(
  tx: Database,
  { user_id, ...rest }: Omit<NewTodos, 'user_ids'> & { user_id: number },
): Promise<number | undefined> {
  return (await addTodos(tx, { ...rest, user_ids: [user_id] })).get(user_id);
}

/**
 * Ends what waits for somebody on an issue or epic: he has dealt with it by changing, closing, commenting or awarding it.
 * @param tx the transaction of what he did
 * @returns how many were pending
 */
export async function doneTodos(tx: Database, target: Noteable, user_id: number): Promise<number> {
  const { rows } = await sql`
    update todos set state = 'done', updated_at = now() where user_id = ${user_id} and state = 'pending' and ${isAbout('todos', target)}
    returning id`.execute(tx);
  return rows.length;
}

/** Whether something waits for somebody on an issue or epic. */
export async function hasTodo(db: Database, target: Noteable, user_id: number): Promise<boolean> {
  const query = db.selectFrom('todos').select('id').where('user_id', '=', user_id).where('state', '=', 'pending');
  return (await query.where(isAbout('todos', target)).executeTakeFirst()) !== undefined;
}
