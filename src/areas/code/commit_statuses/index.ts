/** The interface of commit statuses to other districts. */
export { mergeWhenReady, retryWaiting } from './actions.ts';
export { commitStatusPipelines } from './relation.ts';
export { CommitStatus } from './routes.ts';
