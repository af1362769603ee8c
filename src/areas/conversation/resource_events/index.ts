/** What other areas may use of resource events. */
export {
  type Actor,
  type Resource,
  recordIterationEvent,
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from './actions.ts';
