/** Regular expressions that users write, in RE2 syntax, matched within a budget of time. It imports no other folder of ours. */
export {
  checkExpression,
  type Expression,
  InvalidExpression,
  MatchingTimeout,
  matchEach,
  matchGroups,
} from './matching.ts';
