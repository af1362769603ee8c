/** The description of comments for to-do items. */
import { sql } from 'kysely';
import type { TodoComments } from '../../../activity/todos/index.ts';

export const todoComments: TodoComments = {
  body: sql`(select body from notes where notes.id = todos.note_id)`,
  isInternal: sql`(select internal from notes where notes.id = todos.note_id)`,
};
