/** The to-do list of a user: reading it, marking items as done, and adding items. */
import { sql } from 'kysely';
import { type Issuable, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type AnyEndpoint,
  type Caller,
  found,
  get,
  Id,
  nothing,
  notModified,
  one,
  pageOf,
  post,
  type Services,
  withArticle,
  withStatus,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { addTodo } from './actions.ts';
import { isWanted, todoFilters } from './filters.ts';
import { presentTodos, type TodoForm, type TodoTarget, type TodoTargets } from './present.ts';
import { todosOf } from './queries.ts';

/** The services for presenting targets. */
type Sources = Pick<Services, 'db' | 'storages' | 'url'>;

const crossOff = (db: Database, caller: Caller) =>
  db
    .updateTable('todos')
    .set({ state: 'done', updated_at: sql`now()` })
    .where('user_id', '=', caller.id)
    .where('state', '=', 'pending');

/**
 * The endpoints of the to-do list.
 * @param targets the kinds of targets, besides access requests
 * @param Todo the form of items on them
 */
export function todoRoutes(targets: TodoTargets, Todo: TodoForm): AnyEndpoint[] {
  /** One to-do item of the caller. */
  async function todoReply(services: Sources, caller: Caller, id: number) {
    const row = await todosOf(services.db, caller, targets.comments).where('todos.id', '=', id).executeTakeFirst();
    const [todo] = row ? await presentTodos(services, caller, targets, [row]) : [];
    return found(undefined, todo);
  }

  /** @throws ApiError 304 if one is already pending */
  async function remind(services: Sources, caller: Caller, target: Issuable) {
    const id = await addTodo(services.db, { user_id: caller.id, author_id: caller.id, action: 'marked', target });
    if (id === undefined) throw notModified();
    return todoReply(services, caller, id);
  }

  const reminder = ({ kind }: TodoTarget) =>
    kind.endpoints([
      post(`${kind.at.path}/todo`, {
        operation: `create${kind.type}Todo`,
        summary: `Create a to-do item for ${withArticle(kind.name)}`,
        access: kind.at.reader(),
        returns: one(Todo),
        refusals: { 304: 'A to-do item for it is already pending.' },
        handle: ({ caller, on, ...services }) => remind(services, caller, on),
      }),
    ]);

  return [
    get('/todos', {
      operation: 'listTodos',
      summary: "List the caller's to-do items, newest first",
      access: signedIn,
      input: { ...paging, ...todoFilters },
      returns: pageOf(Todo),
      handle: async ({ caller, input, ...services }) => {
        const { db } = services;
        const page = await paginate(
          db,
          todosOf(db, caller, targets.comments).where(isWanted(input)).orderBy('todos.id', 'desc'),
          input,
        );
        return { ...page, items: await presentTodos(services, caller, targets, page.items) };
      },
    }),
    post('/todos/:id/mark_as_done', {
      operation: 'markTodoAsDone',
      summary: 'Mark a to-do item as done',
      access: signedIn,
      input: { id: Id },
      returns: withStatus(201, one(Todo)),
      handle: async ({ caller, input, ...services }) => {
        await todoReply(services, caller, input.id);
        await crossOff(services.db, caller).where('id', '=', input.id).execute();
        return todoReply(services, caller, input.id);
      },
    }),
    post('/todos/mark_as_done', {
      operation: 'markAllTodosAsDone',
      summary: 'Mark all to-do items as done',
      access: signedIn,
      returns: nothing,
      handle: async ({ db, caller }) => void (await crossOff(db, caller).execute()),
    }),
    ...targets.issuables.flatMap(reminder),
  ];
}
