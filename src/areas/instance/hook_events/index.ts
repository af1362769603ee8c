/** The interface of hook events to other districts. */
export {
  type AskingHook,
  addHookEvents,
  announceComposedEvent,
  announceHookEvent,
  failures_that_disable,
  hooksAsking,
  tellEach,
} from './actions.ts';
export {
  hookEvent,
  inProject,
  newsInProjects,
  newsOf,
  presentedEvent,
  type Refs,
  type Snapped,
  snapshotInJson,
  type Telling,
  toSystem,
} from './definition.ts';
export { type Trigger, triggers } from './rules.ts';
