/** What other areas may use of reactions. */
export { toggleAward } from './actions.ts';
export { sampleAward } from './hook_actions.ts';
export { awardsOf, notesWithAwards } from './relation.ts';
export { type Awarded, awardEmojiRoutes } from './routes.ts';
export { emojiNamed } from './rules.ts';
