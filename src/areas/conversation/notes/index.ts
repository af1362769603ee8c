/** What other areas may use of notes. */
export { addSystemNote, copyNotes, type SystemNote } from './actions.ts';
export { type MentioningText, noteMentions } from './mention_actions.ts';
export { Note, type NoteReply, presentNote } from './present.ts';
export { columnsOfNoteable, isOn, isVisibleNote, type Noteable, type NoteRow, noteRows } from './queries.ts';
export { dateChanged, descriptionChanged, titleChanged } from './system_note_rules.ts';
