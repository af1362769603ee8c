/** Computes when a project is frozen: while any of its freeze periods is active. */
import { type Cron, ianaZone, isCron, isTimeZone, nextTime, parseCron, previousTime } from '../../../cron/index.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';

const blank = (text: string) => (text.trim() === '' ? ["can't be blank"] : []);

/** The reasons for refusing a cron line. The public API sends the leading space. */
export const cronReasons = (text: string): string[] => (isCron(text) ? [] : [' is invalid syntax', ...blank(text)]);

/** The reasons for refusing the name of a time zone. */
export const timeZoneReasons = (text: string): string[] =>
  isTimeZone(text) ? [] : ['syntax is invalid', ...blank(text)];

export type FreezePeriod = { freeze_start: string; freeze_end: string; cron_timezone: string };

/** The reasons for refusing a period, by its members; none if it is valid. */
export function periodReasons({ freeze_start, freeze_end, cron_timezone }: FreezePeriod): Record<string, string[]> {
  const reasons = {
    freeze_start: cronReasons(freeze_start),
    freeze_end: cronReasons(freeze_end),
    cron_timezone: timeZoneReasons(cron_timezone),
  };
  return Object.fromEntries(Object.entries(reasons).filter(([, texts]) => texts.length > 0));
}

type Span<P = unknown> = { start: Cron; end: Cron; zone: string; period: P };

/**
 * How often one period may take over from another, both covering the handover, before the project counts as frozen for good: 1000 times
 * for two periods, fewer for more, which bounds the work. Two periods that share the day between them hand over 730 times a year, so a
 * gap that opens once a year is still found.
 */
const MOST_HANDOVERS = 2000;

/** The longest time that the computation may block other requests at once. */
const turn_ms = 5;

/** Returns a function that yields to other requests if the last yield was longer ago than a turn. */
function pauses(): () => Promise<void> {
  let until = performance.now() + turn_ms;
  return async () => {
    if (performance.now() < until) return;
    await nextTurn();
    until = performance.now() + turn_ms;
  };
}

/** Whether a project is frozen, and when that changes next; null if it does not within the decades that are computed. */
export interface FreezeState<P = unknown> {
  frozen: boolean;
  changes_at: Date | null;
  /** The first of the active periods. */
  period: P | undefined;
}

/**
 * Whether a project is frozen at an instant, and when that changes (docs/reference/freeze_periods.md).
 *
 * A period is frozen while, in its zone, the latest freeze_start lies after the latest freeze_end: from the second of the start on, up to
 * but without the second of the end. A start and an end in the same second do not freeze. A period that never ended is frozen after its
 * first start, one that never started is not. The end of a period that another covers is no change.
 *
 * @param periods all periods of the project, as stored. One that can no longer be read (its zone left the time zone data) freezes
 *   nothing: neither a pipeline nor a push must fail because of it.
 * @param instant usually now.
 */
export async function freezeState<P extends FreezePeriod>(
  periods: readonly P[],
  instant: Date,
): Promise<FreezeState<P>> {
  const spans = periods.flatMap((period) => readSpan(period) ?? []);
  const pause = pauses();
  const [active] = await frozenAt(spans, instant, pause);
  if (active) return { frozen: true, changes_at: await thaw(spans, instant, pause), period: active.period };
  let first: Date | null = null;
  for (const { start, end, zone } of spans) {
    await pause();
    const time = nextTime(start, zone, instant, end);
    if (time && (first === null || time < first)) first = time;
  }
  return { frozen: false, changes_at: first, period: undefined };
}

function readSpan<P extends FreezePeriod>(period: P): Span<P> | undefined {
  const start = parseCron(period.freeze_start);
  const end = parseCron(period.freeze_end);
  const zone = ianaZone(period.cron_timezone);
  return start && end && zone ? { start, end, zone, period } : undefined;
}

function isFrozen({ start, end, zone }: Span, instant: Date): boolean {
  const started = previousTime(start, zone, instant);
  if (!started) return false;
  const ended = previousTime(end, zone, instant);
  return !ended || started > ended;
}

async function frozenAt<P>(spans: readonly Span<P>[], instant: Date, pause: () => Promise<void>): Promise<Span<P>[]> {
  const frozen: Span<P>[] = [];
  for (const span of spans) {
    await pause();
    if (isFrozen(span, instant)) frozen.push(span);
  }
  return frozen;
}

/** When the last of the overlapping periods ends; null if never, or if more handovers would have to be followed than allowed. */
async function thaw(spans: readonly Span[], instant: Date, pause: () => Promise<void>): Promise<Date | null> {
  let until = instant;
  for (let handovers = 0; handovers * spans.length <= MOST_HANDOVERS; handovers++) {
    const frozen = await frozenAt(spans, until, pause);
    if (frozen.length === 0) return until;
    // A frozen period stays frozen until its next end, so the computation can skip to the latest of these ends.
    const ends = frozen.map((span) => nextTime(span.end, span.zone, until));
    if (ends.includes(undefined)) return null;
    until = new Date(Math.max(...ends.map(Number)));
  }
  return null;
}

/** The most freezes that are listed. */
const mostSpans = 500;

/**
 * When a project is frozen between two instants, as `freezeState` says.
 * @returns the spans in their order, cut off at the ends, and whether they are all
 */
export async function frozenSpans(
  periods: readonly FreezePeriod[],
  from: Date,
  until: Date,
): Promise<{ spans: { from: Date; until: Date }[]; is_complete: boolean }> {
  const spans: { from: Date; until: Date }[] = [];
  let at = from;
  while (at < until && spans.length < mostSpans) {
    const { frozen, changes_at } = await freezeState(periods, at);
    const end = changes_at && changes_at < until ? changes_at : until;
    if (frozen) spans.push({ from: at, until: end });
    at = end;
  }
  return { spans, is_complete: at >= until };
}
