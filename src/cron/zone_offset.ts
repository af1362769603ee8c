/** The offset of a time zone from UTC, and until when it is constant, from the time zone data of the runtime. */
import { LRUCache } from 'lru-cache';

// A formatter takes a hundred lookups to build, and some memory; more than a few zones are rarely in use at once.
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 64 });

/**
 * Clocks of one zone are not moved twice within this span: since 1990 no zone moved them back within less than seven days (Brazil's
 * north-east, October 2000). So equal offsets at both ends mean no change between.
 */
const CALM_MS = 4 * 24 * 3_600_000;

/**
 * The offset of a zone from UTC.
 *
 * @param zone an IANA name.
 * @param instant_ms milliseconds since 1970.
 * @returns milliseconds to add to the instant to get the local time; positive east of Greenwich.
 * @throws RangeError when there is no such zone, or the instant is not a time.
 */
export function zoneOffset(zone: string, instant_ms: number): number {
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    formatters.set(zone, formatter);
  }
  // Reads like `11/21/2026, GMT+05:30`, or `GMT` alone; zones once had offsets with seconds.
  const offset = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatter.format(instant_ms));
  if (!offset?.[1]) return 0;
  const seconds = Number(offset[2]) * 3600 + Number(offset[3]) * 60 + Number(offset[4] ?? 0);
  return (offset[1] === '-' ? -seconds : seconds) * 1000;
}

/**
 * Finds where the offset of a zone changes between two instants, in either direction.
 * @param zone an IANA name.
 * @param from_ms whole seconds, in milliseconds since 1970.
 * @param to_ms likewise; before or after `from_ms`.
 * @returns the last whole second on the way that still has the offset of `from_ms`, or undefined when all have, `to_ms` included.
 */
export function lastBeforeChange(zone: string, from_ms: number, to_ms: number): number | undefined {
  const offset = zoneOffset(zone, from_ms);
  const direction = Math.sign(to_ms - from_ms);
  let same = from_ms;
  while (same !== to_ms) {
    const distance = Math.min(CALM_MS, Math.abs(to_ms - same));
    const next = same + direction * distance;
    if (zoneOffset(zone, next) !== offset) return boundary(zone, offset, same, next);
    same = next;
  }
  return undefined;
}

function boundary(zone: string, offset: number, same: number, other: number): number {
  while (Math.abs(other - same) > 1000) {
    const middle = Math.floor((same + other) / 2000) * 1000;
    if (zoneOffset(zone, middle) === offset) same = middle;
    else other = middle;
  }
  return same;
}
