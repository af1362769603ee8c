/** How threads appear in replies (docs/reference/discussions.md). */
import { type Static, Type } from 'typebox';
import { resource } from '../../../http/index.ts';
import { Note, presentNote } from '../notes/present.ts';
import type { NoteRow } from '../notes/queries.ts';

export const Discussion = resource('Discussion', {
  id: Type.String({ description: '40 hexadecimal digits' }),
  individual_note: Type.Boolean({ description: 'Whether it is a single note outside threads' }),
  notes: Type.Array(Note),
});

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
