/** The interface of issue boards to other districts. */
export { Board, BoardList } from './present.ts';
export { boards } from './relation.ts';
