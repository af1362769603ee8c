/** The functions by which other areas send hook events. */
export {
  type AskingHook,
  addHookEvent,
  announceHookEvent,
  failures_that_disable,
  hooksAsking,
  tellEach,
} from './actions.ts';
export { type Trigger, triggers } from './rules.ts';
