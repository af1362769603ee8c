/** What other areas may use of push rules. */
export { copyTemplate } from './actions.ts';
