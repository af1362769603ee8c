/** The to-do list. */
export { todoRow, todosPage } from './pages.ts';
