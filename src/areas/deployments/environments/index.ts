/** The interface of environments and deployments to other districts. */
export { environmentsReader, hasReadableEnvironments, mayReadEnvironments } from './access.ts';
export { startStopJob, stopEnvironments } from './actions.ts';
export { failRejectedJob } from './approval_actions.ts';
export { approvalsOf, missing, protectionFor } from './approval_queries.ts';
export {
  auditOverride,
  endlessFreezeText,
  followDeployment,
  freezeNow,
  freezeText,
  type StatusChange,
  setStatuses,
} from './deployment_actions.ts';
export { emptyEnvironments } from './emptying_queries.ts';
export { deploymentEvent, sampleDeployment } from './hook_actions.ts';
export {
  addJobDeployments,
  concludeStops,
  type DeployingJob,
  markFrozen,
  type Outcome,
  renewEnvironment,
} from './job_deployment_actions.ts';
export { endEnvironments } from './jobs.ts';
export {
  Deployment,
  DeploymentDetails,
  deploymentPage,
  Environment,
  EnvironmentInList,
  environmentPage,
} from './present.ts';
export { deploymentIn } from './queries.ts';
export { canSeeDeployments, deployments, environments } from './relation.ts';
export { type DeploymentStatus, nameReasons } from './rules.ts';
