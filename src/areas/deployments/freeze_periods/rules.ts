/** When a project is frozen: while any of its freeze periods is. */
import { type Cron, nextTime, parseCron, previousTime } from '../../../cron/cron.ts';
import { ianaZone } from '../../../cron/time_zones.ts';

type FreezePeriod = { freeze_start: string; freeze_end: string; cron_timezone: string };
type Span = { start: Cron; end: Cron; zone: string };

/**
 * How often one period may take over from another, both covering the handover, before the project counts as frozen for good: 1000 times
 * for two periods, fewer for more, so that no set of periods costs more than a fraction of a second. Two periods that share the day
 * between them hand over 730 times a year, so a gap that opens once a year is still found.
 */
const MOST_HANDOVERS = 2000;

/**
 * Whether a project is frozen at an instant, and when that changes.
 *
 * A period is frozen while, in its zone, the latest freeze_start lies after the latest freeze_end: from the second of the start on, up to
 * but without the second of the end. A start and an end in the same second do not freeze. A period that never ended is frozen after its
 * first start, one that never started is not.
 *
 * @param periods all periods of the project, as stored. One that can no longer be read (its zone left the time zone data) freezes
 *   nothing: a pipeline must not fail over it.
 * @param instant usually now.
 * @returns `changes_at` is the next instant at which `frozen` turns, over all periods together: the end of one that another covers is no
 *   change. It is null when there is none, within the decades that cron.ts looks ahead.
 */
export function freezeState(periods: readonly FreezePeriod[], instant: Date): { frozen: boolean; changes_at: Date | null } {
  const spans = periods.map(readSpan).filter((span) => span !== undefined);
  if (spans.some((span) => isFrozen(span, instant))) return { frozen: true, changes_at: thaw(spans, instant) };
  const starts = spans.map((span) => nextTime(span.start, span.zone, instant, span.end)).filter((time) => time !== undefined);
  return { frozen: false, changes_at: starts.length ? new Date(Math.min(...starts.map(Number))) : null };
}

function readSpan(period: FreezePeriod): Span | undefined {
  const start = parseCron(period.freeze_start);
  const end = parseCron(period.freeze_end);
  const zone = ianaZone(period.cron_timezone);
  return start && end && zone ? { start, end, zone } : undefined;
}

function isFrozen({ start, end, zone }: Span, instant: Date): boolean {
  const started = previousTime(start, zone, instant);
  if (!started) return false;
  const ended = previousTime(end, zone, instant);
  return !ended || started > ended;
}

/** When the last of the overlapping periods ends; null when that is never, or behind more handovers than are followed. */
function thaw(spans: readonly Span[], instant: Date): Date | null {
  let until = instant;
  for (let handovers = 0; handovers * spans.length <= MOST_HANDOVERS; handovers++) {
    const frozen = spans.filter((span) => isFrozen(span, until));
    if (!frozen.length) return until;
    // A frozen period stays so until its next end, so nothing has to be looked at before the latest of these.
    const ends = frozen.map((span) => nextTime(span.end, span.zone, until));
    if (ends.includes(undefined)) return null;
    until = new Date(Math.max(...ends.map(Number)));
  }
  return null;
}
