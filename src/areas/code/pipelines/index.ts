/** What other areas may use of pipelines. */
export { hasReadablePipelines, pipelinesReader } from './access.ts';
export { lockCommit, otherPipelineText, pipelineFor, refOfPipeline, refreshPipeline } from './actions.ts';
export { assignStatuses } from './assignment_actions.ts';
export { emptyPipelines } from './emptying_queries.ts';
export { sampleJob, samplePipeline, tellOfJob, tellOfPipeline } from './hook_actions.ts';
export { assignPipelines, refreshPipelines } from './jobs.ts';
export { pipelineMail } from './mail_git.ts';
export { notifyOfPipeline } from './notification_actions.ts';
export {
  Pipeline,
  PipelineBasic,
  PipelineDetail,
  type PipelineRow,
  pipelineColumns,
  pipelinePage,
  presentPipeline,
  secondsBetween,
} from './present.ts';
export { headPipeline, pipelineIn } from './queries.ts';
export { isFinal, type State, stage, states } from './rules.ts';
export { statusOfCommit } from './status_queries.ts';
