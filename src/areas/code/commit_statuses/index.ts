/** What other areas may use of commit statuses. */
export { mergeWhenReady, retryWaiting } from './actions.ts';
export { commitStatusPipelines } from './relation.ts';
export { CommitStatus } from './routes.ts';
