/** The pages of issue boards. */
export { boardPages, groupBoardsPage } from './pages.ts';
