/** What tests report of themselves: the XML of JUnit, within limits. */
export { UnreadableReport } from './errors.ts';
export { casesOf, summaryOf } from './reading.ts';
export { maximumReport_bytes, outcomes, type Summary, type TestCase } from './types.ts';
