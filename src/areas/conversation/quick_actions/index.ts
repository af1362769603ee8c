/** What other areas may use of quick actions. It knows neither issues nor epics: their areas hand in what can be done to them. */
export { applyCommands, type CommandOutcome } from './actions.ts';
export { type Command, type Extraction, extractCommands } from './extraction_rules.ts';
export type { CommandChanges, Operations, TimeSpent } from './operations.ts';
export type { CommandTarget } from './situation.ts';
