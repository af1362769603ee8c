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
export { issuesIn, moveInEpic } from './position_actions.ts';
export { newPosition } from './position_parameters.ts';
export { Epic, EpicInIssue, type EpicReply, presentEpics, presentSingleEpic } from './present.ts';
export { epicsInIssues } from './queries.ts';
export { epicReference, epics, isSeenEpic } from './relation.ts';
