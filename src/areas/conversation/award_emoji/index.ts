/** The interface of reactions to other districts. */
export { toggleAward } from './actions.ts';
export { sampleAward } from './hook_actions.ts';
export { awardEvent } from './hook_present.ts';
export { AwardEmoji } from './present.ts';
export { awardsOf, notesWithAwards } from './relation.ts';
export { type Awarded, awardEmojiRoutes } from './routes.ts';
export { emojiNamed, emojiOf } from './rules.ts';
