/** What other areas may use to tell hooks of changes. */
export {
  type AskingHook,
  addHookEvent,
  announceHookEvent,
  failures_that_disable,
  hooksAsking,
  tellEach,
} from './actions.ts';
export { type Trigger, triggers } from './rules.ts';
