/** What other areas may use of notifications. */
export { collectNotifications, removeOldNotifications, sendNotification, sendNotifications, tellOfDueIssues } from './jobs.ts';
export { notificationPages } from './pages.ts';
