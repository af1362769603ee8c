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
export { newPlace } from './place_parameters.ts';
export { issuesIn, moveInEpic } from './position_actions.ts';
export { Epic, EpicInIssue, type EpicReply, presentSingleEpic } from './present.ts';
export { epicsInIssues } from './queries.ts';
