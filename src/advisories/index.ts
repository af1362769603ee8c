/** Advisories about vulnerable packages: OSV records, which versions they are about, and how severe they are. */
export { isInRanges, type Range } from './ranges.ts';
export { type Advisory, InvalidRecord, readRecord } from './records.ts';
export { type Severity, severities } from './severities.ts';
