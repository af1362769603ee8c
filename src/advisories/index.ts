/**
 * Advisories about vulnerable packages: OSV records, the versions they affect, and their severity. `records.ts` reads records, for the command that imports them;
 * servers do not load the calculator of CVSS.
 */
export { fixIn, isInRanges, type Range } from './ranges.ts';
export type { Advisory } from './records.ts';
export { ofWord, type Severity, severities } from './severities.ts';
