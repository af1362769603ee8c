/** What other areas may use of to-dos. */
export { addRequestTodos } from './access_requests.ts';
export { addTodo, addTodos, doneTodos, hasTodo, type NewTodos, type TodoAction, type TodoTarget } from './actions.ts';
