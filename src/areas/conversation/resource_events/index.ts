/** What other areas may use of resource events. */
export {
  labelEventsOf,
  recordIterationEvent,
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from './actions.ts';
export { type EventSubject, resourceEventRoutes } from './routes.ts';
