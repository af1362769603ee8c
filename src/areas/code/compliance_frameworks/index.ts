/** The interface of compliance frameworks to other districts. */
export { giveDefault } from './actions.ts';
export { controls, type ProjectFacts } from './control_rules.ts';
export { frameworkNames } from './queries.ts';
export { complianceFrameworks, projectFrameworks } from './relation.ts';
export { leaveFrameworks } from './transfer_actions.ts';
