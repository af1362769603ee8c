/** What other areas may use of quick actions. It knows neither issues nor epics: their areas describe themselves by a `Commandable`. */
export { applyCommands, type CommandOutcome } from './actions.ts';
export { type Command, extractCommands } from './extraction_rules.ts';
export type { CommandChanges, Operations } from './operations.ts';
export type { Acting, Commandable, TargetState } from './situation.ts';
