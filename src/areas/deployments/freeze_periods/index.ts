/** The interface of freeze periods to other districts. */
export { freezeStateOf } from './queries.ts';
export { freezePeriods } from './relation.ts';
export { type FreezePeriod, frozenSpans, periodReasons } from './rules.ts';
