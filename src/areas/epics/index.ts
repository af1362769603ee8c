/** What other areas may use of epics. */
export { createEpic } from './actions.ts';
export {
  addToEpic,
  confidentialEpicText,
  type EpicRefusal,
  epicNumbered,
  removeFromEpic,
  setEpicOfIssue,
} from './issue_epics.ts';
export { epicOperations } from './operations.ts';
export { moveInEpic } from './places.ts';
export { Epic, EpicInIssue, type EpicReply } from './present.ts';
export { epicsInIssues, presentEpics, presentSingleEpic } from './queries.ts';
