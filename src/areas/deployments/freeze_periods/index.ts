/** The interface of freeze periods to other districts. */
export { freezeStateOf } from './queries.ts';
export { freezePeriods } from './relation.ts';
export { cronReasons, type FreezePeriod, frozenSpans, periodReasons, timeZoneReasons } from './rules.ts';
