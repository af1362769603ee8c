/** When schedules are due (docs/reference/pipeline_schedules.md#when-they-run). Pure functions. */
import { ianaZone, nextTime, parseCron } from '../../../cron/index.ts';

/** A schedule never runs more often. */
const least_pause_ms = 5 * 60_000;

export interface Recurring {
  cron: string;
  cron_timezone: string;
  /** When it was last due; null before the first time. */
  last_run_at: string | null;
}

/**
 * When a schedule is due next: once, however often it was missed, and not before the pause after the last time has passed.
 * @returns an ISO date; null if its line never occurs again, or its time zone is no longer known
 */
export function nextRun({ cron, cron_timezone, last_run_at }: Recurring, now: Date): string | null {
  const [line, zone] = [parseCron(cron), ianaZone(cron_timezone)];
  if (!line || !zone) return null;
  // Occurrences are whole seconds, and the one at the end of the pause counts.
  const rested = last_run_at === null ? 0 : Date.parse(last_run_at) + least_pause_ms - 1;
  return nextTime(line, zone, new Date(Math.max(now.getTime(), rested)))?.toISOString() ?? null;
}
