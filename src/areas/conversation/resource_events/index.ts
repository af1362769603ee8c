/** The interface of resource events to other districts. */
export {
  labelEventsOf,
  recordIterationEvent,
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from './actions.ts';
export { forms as resourceEventForms } from './present.ts';
export { iterationEvents, labelEvents, milestoneEvents, stateEvents, weightEvents } from './relation.ts';
export { type EventSubject, resourceEventRoutes } from './routes.ts';
