/** Cron lines and time zones. */
export { type Cron, isCron, nextTime, parseCron, previousTime } from './cron.ts';
export { ianaZone, isTimeZone } from './time_zones.ts';
