/** The interface of feature flags to other districts. */

export { brokenInstanceIds } from './client_actions.ts';
export { emptyFeatureFlags } from './emptying_queries.ts';
export { FeatureFlag } from './flag_routes.ts';
export { featureFlagEvent, sampleFeatureFlag } from './hook_actions.ts';
export { featureFlags, featureFlagUserLists } from './relation.ts';
export { unleashDoors, unleashDoorway } from './unleash_http.ts';
