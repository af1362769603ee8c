/** Cron lines, time zones and days. */
export { type Cron, isCron, nextTime, parseCron, previousTime } from './cron.ts';
export {
  dayFrom,
  dayOf,
  daysAfter,
  daysBetween,
  daysFromNow,
  endReasons,
  endReasonsOf,
  lastDayReasons,
  today,
} from './days.ts';
export { ianaZone, isTimeZone } from './time_zones.ts';
export { zoneOffset } from './zone_offset.ts';
