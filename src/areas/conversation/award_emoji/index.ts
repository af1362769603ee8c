/** What other areas may use of reactions. */
export { toggleAward } from './actions.ts';
export { emojiNamed } from './rules.ts';
