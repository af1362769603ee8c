/** What other areas may use of discussions. */
export { Discussion } from './present.ts';
