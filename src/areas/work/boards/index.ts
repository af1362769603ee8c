/** What other areas may use of issue boards. */
export { boards } from './relation.ts';
