/** Advisories about vulnerable packages: OSV records, the versions they affect, and their severity. */
export { fixIn, isInRanges, type Range } from './ranges.ts';
export { type Advisory, InvalidRecord, readRecord } from './records.ts';
export { type Severity, severities } from './severities.ts';
