/** The interface of notifications to other districts. */
export { inProject, mailTarget, noParticipants, readersOf } from './definition.ts';
export { removeOldNotifications, sendNotification } from './message_jobs.ts';
export { addNotification, notifying } from './outbox_actions.ts';
export { collectNotifications, sendNotifications } from './recipient_jobs.ts';
export { subscriptionOf, unsubscribePage } from './unsubscribe_rules.ts';
