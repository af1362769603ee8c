/** What other areas may use of notifications. */
export { mailTarget, readersOf } from './definition.ts';
export { collectNotifications, removeOldNotifications, sendNotification, sendNotifications } from './jobs.ts';
export { addNotification, notifying } from './outbox_actions.ts';
export { eventSettings, mailEvents } from './rules.ts';
export { subscriptionOf, unsubscribePage } from './unsubscribe_rules.ts';
