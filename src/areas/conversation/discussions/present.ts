/** How threads and what quick actions did appear in replies (discussions.md). */
import { type Static, Type } from 'typebox';
import { byOutcome, resource } from '../../../http/index.ts';
import type { Written } from '../notes/comment_actions.ts';
import { Note, type NoteRow, presentNote } from '../notes/index.ts';

export const Discussion = resource('Discussion', {
  id: Type.String({ description: '40 hexadecimal digits' }),
  individual_note: Type.Boolean({ description: 'Whether it is a comment outside a thread' }),
  notes: Type.Array(Note),
});

/** What a text answers that was nothing but quick actions. */
export const CommandsOnly = resource('CommandsOnly', {
  commands_changes: Type.Record(Type.String(), Type.Unknown(), { description: 'What was changed, by attribute' }),
  summary: Type.Array(Type.String()),
});

const onlyCommands = { 202: 'The text was nothing but quick actions: they were done, and there is no comment' };
export const noteOrCommands = byOutcome(Type.Union([Note, CommandsOnly]), onlyCommands);
export const discussionOrCommands = byOutcome(Type.Union([Discussion, CommandsOnly]), onlyCommands);

/**
 * @param url the external address of the server
 * @param notes of one thread, oldest first; at least one
 */
export const presentDiscussion = (
  url: string,
  notes: readonly NoteRow[],
  changes?: Record<string, unknown>,
): Static<typeof Discussion> => ({
  id: notes[0]!.discussion_id,
  individual_note: notes[0]!.type === null,
  notes: notes.map((note) => presentNote(url, note, changes)),
});

/** What came of a text, as its comment, or as the thread that it began. */
export function outcomeOf<T>(
  { note, commands }: Written,
  present: (note: NoteRow, changes: Record<string, unknown> | undefined) => T,
) {
  if (note) return { body: present(note, commands?.commands_changes) };
  const { commands_changes = {}, summary = [] } = commands ?? {};
  return { status: 202, body: { commands_changes, summary } };
}
