/** What other areas may use of experiments. */
export { DefinitionOfExperiment } from './definition.ts';
export { definitions } from './definitions/index.ts';
export {
  type Actor,
  type ActorKind,
  actorGroups,
  Gate,
  type GateRow,
  listOfGates,
  type PercentageKey,
  percentageKeys,
  readableGates,
  stateOf,
} from './gate_rules.ts';
export { gatesOf, isExperimentOn } from './queries.ts';
