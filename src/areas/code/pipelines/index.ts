/** The interface of pipelines to other districts. */
export { hasReadablePipelines, isShownPipeline, pipelinesReader } from './access.ts';
export { refreshPipeline, removePipeline } from './actions.ts';
export { followQueue } from './bridge_actions.ts';
export { emptyPipelines } from './emptying_queries.ts';
export { sampleJob, samplePipeline, tellOfJobs, tellOfPipeline } from './hook_actions.ts';
export { jobEvent, pipelineEvent } from './hook_present.ts';
export { assignPipelines, refreshPipelines } from './jobs.ts';
export { pipelineMail } from './mail_git.ts';
export { notifyOfPipeline, pipelineEnded } from './notification_actions.ts';
export { Pipeline, PipelineBasic, PipelineDetail, pipelineColumns, pipelinePage, presentPipeline } from './present.ts';
export { headPipeline, isArchived, pipelineIn, pipelineReply, pipelinesOf } from './queries.ts';
export {
  type Counted,
  finalStates,
  isActive,
  isFinal,
  overallStatus,
  type Source,
  type State,
  states,
} from './rules.ts';
export { statusOfCommit } from './status_queries.ts';
