/** What other areas may use of to-dos. */

export { addTodo, addTodos, doneTodos, hasTodo, type NewTodos, type TodoAction, type TodoTarget } from './actions.ts';
export { addRequestTodos } from './request_actions.ts';
