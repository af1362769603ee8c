/** What other areas may use of notes. */
export { addSystemNote, copyNotes, noteOnBoth } from './actions.ts';
export { findReferred } from './arrived_reference_actions.ts';
export {
  addComment,
  checkedComment,
  removeComment,
  rewriteComment,
  threadToJoin,
  writeComment,
} from './comment_actions.ts';
export { commentCounts, internalComments } from './count_queries.ts';
export type { Discussable, Threads } from './definition.ts';
export { diffOfCommit, filesIn, hunksOf, positionIn, type Refs } from './diff_git.ts';
export { lineCode, shows } from './diff_rules.ts';
export { eventComments } from './elsewhere/event_queries.ts';
export { sampleNote } from './elsewhere/hook_actions.ts';
export { commentMail, type Mailed, type MailedCommits } from './elsewhere/mail_queries.ts';
export { todoComments } from './elsewhere/todo_queries.ts';
export { followPositions, movedBetween } from './follow_queries.ts';
export { noteMentions } from './mention_actions.ts';
export {
  completePosition,
  GivenPosition,
  incompletePosition,
  notInDiff,
  Position,
  positionTexts,
} from './position_rules.ts';
export { Note, orCommands, outcomeOf, presentNote } from './present.ts';
export { isOn, isOpen, isVisibleNote, type NoteRow, noteOf, noteRows, notesFor } from './queries.ts';
export { notesOn, suggestions } from './relation.ts';
export {
  markResolved,
  resolveNote,
  resolveOutdated,
  resolveThread,
} from './resolution_actions.ts';
export { CommentTime, commentRate, noteRoutes } from './routes.ts';
export {
  checkBody,
  describedText,
  mayComment,
  mayReadInternal,
  noReplyText,
  notResolvable,
  notResolvableText,
  writingTexts,
} from './rules.ts';
export { suggestibleFile } from './suggestion_actions.ts';
export { Suggestion, type SuggestionReply, suggestionJson } from './suggestion_present.ts';
export { changedSuggestions } from './suggestion_queries.ts';
export { type LineSpan, linesAt, spanOf, suggestedLine } from './suggestion_rules.ts';
export { dateChanged, descriptionChanged, titleChanged } from './system_note_rules.ts';
