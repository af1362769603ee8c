/** The interface of commit statuses to other districts. */
export { mergeWhenReady, retryWaiting, tellWaiting } from './actions.ts';
export { commitStatusPipelines } from './relation.ts';
export { CommitStatus } from './routes.ts';
