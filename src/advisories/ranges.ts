/** The versions that an advisory affects, as the OSV schema defines them. */
import { orderIn, semverOrder } from './versions.ts';

export type RangeEvent = { introduced: string } | { fixed: string } | { last_affected: string } | { limit: string };

export interface Range {
  type: 'SEMVER' | 'ECOSYSTEM';
  events: RangeEvent[];
}

type Compare = (one: string, other: string) => number;

/** 0 is before every version. */
const atOrBefore = (event: string, version: string, compare: Compare) => event === '0' || compare(event, version) <= 0;

function versionOf(event: RangeEvent): string {
  return Object.values(event)[0] as string;
}

function isInRange(version: string, { events }: Range, compare: Compare): boolean {
  const limits = events.flatMap((event) => ('limit' in event ? [event.limit] : []));
  if (limits.length > 0 && !limits.some((limit) => limit === '*' || compare(version, limit) < 0)) return false;
  const sorted = events
    .filter((event) => !('limit' in event))
    .toSorted((one, other) => {
      const [a, b] = [versionOf(one), versionOf(other)];
      if (a === '0' || b === '0') return a === b ? 0 : a === '0' ? -1 : 1;
      return compare(a, b);
    });
  let isAffected = false;
  for (const event of sorted) {
    if ('introduced' in event && atOrBefore(event.introduced, version, compare)) isAffected = true;
    if ('fixed' in event && atOrBefore(event.fixed, version, compare)) isAffected = false;
    if ('last_affected' in event && compare(event.last_affected, version) < 0) isAffected = false;
  }
  return isAffected;
}

/** A version as advisories write it. */
const plainIn = (ecosystem: string, version: string): string =>
  ecosystem === 'Go' ? version.replace(/^v(?=\d)/, '') : version;

/**
 * The first version after an affected one that is in none of the ranges, written as the affected one is.
 * @param ranges all that are known about the package
 * @returns undefined if no version is said to fix it
 */
export function fixIn(ecosystem: string, version: string, ranges: readonly Range[]): string | undefined {
  const plain = plainIn(ecosystem, version);
  const compare = ranges.some(({ type }) => type === 'SEMVER') ? semverOrder : orderIn(ecosystem);
  const [first] = ranges
    .flatMap(({ events }) => events.flatMap((event) => ('fixed' in event ? [event.fixed] : [])))
    .filter((fixed) => compare(fixed, plain) > 0 && !isInRanges(ecosystem, fixed, ranges))
    .toSorted(compare);
  return first !== undefined && plain !== version ? `v${first}` : first;
}

/**
 * Whether a version is in one of the ranges of an advisory.
 * @param ecosystem of OSV, whose rules order the versions
 * @param version as a lock file has it
 */
export function isInRanges(ecosystem: string, version: string, ranges: readonly Range[]): boolean {
  const plain = plainIn(ecosystem, version);
  return ranges.some((range) => isInRange(plain, range, range.type === 'SEMVER' ? semverOrder : orderIn(ecosystem)));
}
