/** To-do items for people who are asked whether work from another server is theirs. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Who is asked, about which placeholder, by the work in which group, and who imported it. */
export interface ProposalTodo {
  user_id: number;
  placeholder_id: number;
  group_id: number;
  author_id: number;
}

/** @param tx the transaction that makes the placeholder */
export async function addProposalTodo(tx: Database, todo: ProposalTodo): Promise<void> {
  await tx
    .insertInto('todos')
    .values({ ...todo, action_name: 'placeholder_proposed' })
    .execute();
}

/** @param tx the transaction in which the question is answered */
export async function endProposalTodos(tx: Database, placeholder_id: number): Promise<void> {
  await tx
    .updateTable('todos')
    .set({ state: 'done', updated_at: sql<string>`now()` })
    .where('placeholder_id', '=', placeholder_id)
    .where('state', '=', 'pending')
    .execute();
}
