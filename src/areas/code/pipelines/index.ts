/** The interface of pipelines to other districts. */
export { hasReadablePipelines } from './access.ts';
export { emptyPipelines } from './emptying_queries.ts';
export { sampleJob, samplePipeline } from './hook_actions.ts';
export { jobEvent, pipelineEvent } from './hook_present.ts';
export { assignPipelines, refreshPipelines } from './jobs.ts';
export { pipelineMail } from './mail_git.ts';
export { Pipeline, PipelineBasic, PipelineDetail, pipelineColumns, pipelinePage, presentPipeline } from './present.ts';
export { headPipeline } from './queries.ts';
export { isActive, type State } from './rules.ts';
export { statusOfCommit } from './status_queries.ts';
