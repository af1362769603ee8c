/** What other areas may use of epics. */
export { createEpic } from './actions.ts';
export {
  addToEpic,
  confidentialEpicText,
  type EpicRefusal,
  epicNumbered,
  removeFromEpic,
  setEpicOfIssue,
} from './issue_actions.ts';
export { epicNoun } from './noteable.ts';
export { Epic, EpicInIssue, type EpicReply, presentSingleEpic } from './present.ts';
export { epicsInIssues } from './queries.ts';
export { issuesIn } from './rules.ts';
