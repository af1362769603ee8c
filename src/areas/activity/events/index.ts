/** What other areas may use of activity events. */
export { activity, type Event, type EventAction, type EventTarget, recordEvent, recordEvents } from './actions.ts';
export { removeOldEvents } from './jobs.ts';
export { describePush, recordPush } from './push_actions.ts';
