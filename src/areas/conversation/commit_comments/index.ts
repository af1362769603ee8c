/** What other areas may use of comments on commits. */
export { commitNoun } from './noteable.ts';
export { commitNotes } from './relation.ts';
