/** What other areas may use of issue boards. */
export { Board, BoardList } from './present.ts';
export { boards } from './relation.ts';
