/** What scanners report about the security of a project, within limits. */
export { type Finding, reportTypes } from './findings.ts';
export { findingsIn } from './reading.ts';
