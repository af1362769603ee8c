/** The interface of to-do items to other districts. */
export { addTodo, addTodos, doneTodos, endTodos, hasTodo } from './actions.ts';
export { endTodosOfGoneCommits } from './jobs.ts';
export { type CommitTarget, commitKey, type TodoForm, type TodoTarget, todoForm } from './present.ts';
export { addProposalTodo, endProposalTodos } from './proposal_actions.ts';
export { countPending, type TodoComments } from './queries.ts';
export { addRequestTodos } from './request_actions.ts';
export { todoRoutes } from './routes.ts';
