/** What other areas may use of epics. */
export { createEpic } from './actions.ts';
export { epicOperations } from './command_actions.ts';
export {
  addToEpic,
  confidentialEpicText,
  type EpicRefusal,
  epicNumbered,
  removeFromEpic,
  setEpicOfIssue,
} from './issue_actions.ts';
export { moveInEpic } from './place_actions.ts';
export { Epic, EpicInIssue, type EpicReply } from './present.ts';
export { epicsInIssues, presentEpics, presentSingleEpic } from './queries.ts';
