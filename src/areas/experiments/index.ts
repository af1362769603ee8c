/** What other areas may use of experiments. */
export { type Definition, DefinitionOfExperiment } from './definition.ts';
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
} from './gates.ts';
export { type ExperimentName, gatesOf, isExperimentOn } from './queries.ts';
