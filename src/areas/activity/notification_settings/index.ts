/** What other areas may use of notification settings. */
export { addNotification, notifying } from './outbox_actions.ts';
export { notificationSettingRoutes } from './routes.ts';
