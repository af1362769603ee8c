/** The interface of environments and deployments to other districts. */
export { environmentsReader, hasReadableEnvironments, mayReadEnvironments } from './access.ts';
export { followDeployment } from './deployment_actions.ts';
export { emptyEnvironments } from './emptying_queries.ts';
export { deploymentEvent, sampleDeployment } from './hook_actions.ts';
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
