/** The to-do list of the visitor (docs/reference/work_pages.md). */
import type { Static } from 'typebox';
import { form, type Html, hidden, html, page, pager, pagingOf, person, rows, time } from '../../../pages/index.ts';
import type { TodoForm } from '../../activity/todos/index.ts';
import { pathOf } from '../issuables/present.ts';
import { statesView } from '../issuables/views.ts';

const words: Record<string, string> = {
  assigned: 'assigned you',
  mentioned: 'mentioned you in',
  marked: 'marked to do:',
  approval_required: 'asks for your approval of',
  directly_addressed: 'addressed you in',
  member_access_requested: 'asks for access to',
  review_requested: 'asks you to review',
  build_failed: 'started a pipeline that has failed for',
  placeholder_proposed: 'imported work that is said to be yours into',
};

/** The number of characters shown of a comment. */
const body_characters = 200;

const shortened = (text: string): string =>
  text.length > body_characters ? `${text.slice(0, body_characters)}…` : text;

const nameOf = ({ target_type, body, target }: Static<TodoForm>): string =>
  (target as { title?: string }).title ?? (target_type === 'Commit' ? 'a commit' : body);

/** An item of the list. */
export const todoRow = (todo: Static<TodoForm>): Html =>
  html`${person(todo.author)} ${words[todo.action_name] ?? todo.action_name.replaceAll('_', ' ')} <a class="title" href="${pathOf(todo.target_url)}">${nameOf(todo)}</a>
<span class="soft">${todo.project?.path_with_namespace ?? todo.group?.full_path} ${time(todo.created_at)}</span>`;

/** @param schema of an item, which depends on the kinds of items */
export const todosPage = (schema: TodoForm) =>
  page('/dashboard/todos', {
    signed_in: true,
    load: ({ list, query }) =>
      list(schema, 'listTodos', {
        ...pagingOf({ query }),
        ...(query.state === undefined ? {} : { state: query.state }),
      }),
    forms: {
      done: { runs: 'markTodoAsDone' },
      all_done: { runs: 'markAllTodosAsDone' },
    },
    view: (todos, seen) => {
      const state = seen.query.state === 'done' ? 'done' : 'pending';
      return {
        title: ['To-do list'],
        main: html`${statesView(seen, state, [
          ['pending', 'To do'],
          ['done', 'Done'],
        ])}
${state === 'pending' && todos.items.length > 0 && html`<div class="actions">${form(seen, 'all_done', { button: 'Mark all as done', look: 'plain' })}</div>`}
${rows(
  todos.items.map(
    (todo) => html`${todoRow(todo)}
${todo.target_url.includes('#note_') && html`<div class="soft">${shortened(todo.body)}</div>`}
${
  state === 'pending' &&
  form(seen, 'done', {
    fields: [hidden('id', todo.id)],
    button: html`Done<span class="visually-hidden">: ${nameOf(todo)}</span>`,
    look: 'plain',
    key: todo.id,
  })
}`,
  ),
  state === 'pending' ? 'There is nothing to do.' : 'Nothing has been done yet.',
)}
${pager(todos, seen)}`,
      };
    },
  });
