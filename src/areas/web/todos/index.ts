/** The to-do list. */
export { todosPage } from './pages.ts';
