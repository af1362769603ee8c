/** To-do items for users who are asked whether imported work from another server is theirs. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** The user who is asked, the placeholder, the group of the imported work, and the user who imported it. */
export interface ProposalTodo {
  user_id: number;
  placeholder_id: number;
  group_id: number;
  author_id: number;
}

/** @param tx the transaction that creates the placeholder */
export async function addProposalTodo(tx: Database, todo: ProposalTodo): Promise<void> {
  await tx
    .insertInto('todos')
    .values({ ...todo, action_name: 'placeholder_proposed' })
    .execute();
}

/** @param tx the transaction that records the answer */
export async function endProposalTodos(tx: Database, placeholder_id: number): Promise<void> {
  await tx
    .updateTable('todos')
    .set({ state: 'done', updated_at: sql<string>`now()` })
    .where('placeholder_id', '=', placeholder_id)
    .where('state', '=', 'pending')
    .execute();
}
