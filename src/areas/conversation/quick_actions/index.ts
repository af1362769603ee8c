/**
 * The functions of quick actions for other areas. This area imports no noun: the area of a noun defines a value of
 * `QuickActions` with some of these commands.
 */
export { allOrNothing, applyCommands, changeWithCommands } from './actions.ts';
export type { Acting, CommandChanges, Definition, Operations, Situation } from './definition.ts';
export { extractCommands } from './extraction_rules.ts';
export {
  assigneeCommands,
  dueDateCommands,
  iterationCommands,
  kept,
  labelCommands,
  mentions,
  milestoneCommands,
  usersOf,
} from './planning_commands.ts';
export { namedUsers } from './queries.ts';
export {
  epicTreeCommands,
  inEpicCommands,
  linkCommands,
  metadataCommands,
  placeCommands,
  promotionCommands,
} from './relation_commands.ts';
export { commonCommands, confidentialityCommands, lockCommands } from './state_commands.ts';
export { healthCommands, incidentCommands, timeCommands, weightCommands } from './tracking_commands.ts';
