/** The interface of activity events to other districts. */
export { recordEvent, recordEvents, recording } from './actions.ts';
export { type EventComments, type EventTarget, issuableTarget, type Recorded } from './definition.ts';
export { removeOldEvents } from './jobs.ts';
export { ContributionDays, contributionDaysRoute } from './page_routes.ts';
export type { EventReply } from './present.ts';
export { describePush, recordPush } from './push_actions.ts';
export { eventsAbout } from './relation.ts';
export { eventRoutes } from './routes.ts';
