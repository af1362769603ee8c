/** What other areas may use of comments on commits. */
export { commitNoun } from './noteable.ts';
