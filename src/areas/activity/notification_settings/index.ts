/** The interface of notification settings to other districts. */
export { notificationSettingRoutes } from './routes.ts';
