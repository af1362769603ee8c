/** What other areas may use of notification settings. */
export { notificationSettingRoutes } from './routes.ts';
