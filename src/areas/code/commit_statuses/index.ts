/** What other areas may use of commit statuses. */
export { mergeWhenReady } from './actions.ts';
