/** The interface of comments on commits to other districts. */
export { commitNoun } from './noteable.ts';
export { commitNotes } from './relation.ts';
