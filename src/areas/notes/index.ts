/** What other areas may use of notes. */
export { addSystemNote, copyNotes, type SystemNote } from './actions.ts';
export { type MentioningText, noteMentions } from './mentions.ts';
export { Note, type NoteReply, presentNote } from './present.ts';
export { columnsOfNoteable, isOn, isVisibleNote, type Noteable, type NoteRow, noteRows } from './queries.ts';
export { dateChanged, descriptionChanged, titleChanged } from './wording.ts';
