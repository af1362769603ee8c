/** The to-do list of a user: reading it, crossing off, and putting something on it that he wants to be reminded of. What others put there is the area `todos`. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { epicReader, issueReader, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Caller,
  found,
  get,
  Id,
  nothing,
  notModified,
  one,
  pageOf,
  paginate,
  paging,
  post,
  resource,
  type Services,
  withStatus,
} from '../../../http/index.ts';
import { countIssues } from '../../work/issues/index.ts';
import { isWanted, todoFilters } from './filters.ts';
import { addTodo, type TodoTarget } from './index.ts';
import { presentTodos, Todo } from './present.ts';
import { todosOf } from './queries.ts';

/** One to-do of the caller. */
async function todoReply(services: Pick<Services, 'db' | 'url'>, caller: Caller, id: number) {
  const row = await todosOf(services.db, caller).where('todos.id', '=', id).executeTakeFirst();
  const [todo] = row ? await presentTodos(services, caller, [row]) : [];
  return found(undefined, todo);
}

/** @throws ApiError 304 where one waits already */
async function remind({ db, url }: Pick<Services, 'db' | 'url'>, caller: Caller, target: TodoTarget) {
  const id = await addTodo(db, { user_id: caller.id, author_id: caller.id, action: 'marked', target });
  if (id === undefined) throw notModified();
  return todoReply({ db, url }, caller, id);
}

const crossOff = (db: Database, caller: Caller) =>
  db
    .updateTable('todos')
    .set({ state: 'done', updated_at: sql`now()` })
    .where('user_id', '=', caller.id)
    .where('state', '=', 'pending');

const epicTodo = (path: string) =>
  post(`${path}/:epic_iid/todo`, {
    summary: 'Put an epic on the to-do list of the caller',
    access: epicReader,
    plan: 'premium',
    returns: one(Todo),
    handle: ({ db, url, caller, epic }) => remind({ db, url }, caller, { epic_id: epic.id }),
  });

const UserCounts = resource('UserCounts', {
  merge_requests: Type.Integer(),
  assigned_issues: Type.Integer({ description: 'Open issues that the caller is to deal with' }),
  assigned_merge_requests: Type.Integer(),
  review_requested_merge_requests: Type.Integer(),
  todos: Type.Integer({ description: 'What waits on his list' }),
});

export const todoRoutes = [
  get('/user_counts', {
    summary: 'Count what waits for the caller',
    access: signedIn,
    returns: one(UserCounts),
    handle: async ({ db, caller, plan }) => {
      const filters = { scope: 'assigned_to_me', state: 'opened' } as const;
      const { opened } = await countIssues(db, { caller, plan, place: { everywhere: true }, filters });
      const pending = todosOf(db, caller)
        .where('todos.state', '=', 'pending')
        .clearSelect()
        .select(sql<number>`count(*)`.as('count'));
      const { count } = await pending.executeTakeFirstOrThrow();
      // There are no merge requests yet.
      const none = { merge_requests: 0, assigned_merge_requests: 0, review_requested_merge_requests: 0 };
      return { ...none, assigned_issues: opened, todos: count };
    },
  }),
  get('/todos', {
    summary: 'List what the caller has to do, newest first',
    access: signedIn,
    input: { ...paging, ...todoFilters },
    returns: pageOf(Todo),
    handle: async ({ db, url, caller, input }) => {
      const page = await paginate(db, todosOf(db, caller).where(isWanted(input)).orderBy('todos.id', 'desc'), input);
      return { ...page, items: await presentTodos({ db, url }, caller, page.items) };
    },
  }),
  post('/todos/:id/mark_as_done', {
    summary: 'Cross off one thing to do',
    access: signedIn,
    input: { id: Id },
    returns: withStatus(201, one(Todo)),
    handle: async ({ db, url, caller, input }) => {
      await todoReply({ db, url }, caller, input.id);
      await crossOff(db, caller).where('id', '=', input.id).execute();
      return todoReply({ db, url }, caller, input.id);
    },
  }),
  post('/todos/mark_as_done', {
    summary: 'Cross off everything',
    access: signedIn,
    returns: nothing,
    handle: async ({ db, caller }) => void (await crossOff(db, caller).execute()),
  }),
  post('/projects/:id/issues/:issue_iid/todo', {
    summary: 'Put an issue on the to-do list of the caller',
    access: issueReader,
    returns: one(Todo),
    handle: ({ db, url, caller, issue }) => remind({ db, url }, caller, { issue_id: issue.id }),
  }),
  epicTodo('/groups/:id/epics'),
  epicTodo('/groups/:id/-/epics'),
];
