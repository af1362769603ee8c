/** How reactions are exported and imported with their targets (docs/reference/relations_export.md#award_emoji). */
import { sql } from 'kysely';
import type { NoteableKind } from '../../../access/index.ts';
import {
  type Members,
  parts,
  type RecordKind,
  required,
  shown,
  somebody,
  spelled,
  time,
} from '../../../relations/index.ts';
import { notesOn } from '../notes/relation.ts';
import type { Awardable } from './queries.ts';
import { emojiNamed } from './rules.ts';

const reasonsOf = (name: string) => (emojiNamed(name) === undefined ? ['is not a valid emoji name'] : []);

/** The reactions to a kind of awardables. */
export const awardsOf = ({ type, column }: Awardable['kind']): RecordKind => ({
  table: 'award_emoji',
  only: sql`${sql.ref(`award_emoji.${column}`)} is not null`,
  members: {
    name: required(
      'name',
      spelled(reasonsOf, (name) => emojiNamed(name)!),
    ),
    user_id: somebody('user_id'),
    awardable_type: shown(sql`${sql.lit(type)}`),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
  distinct: ['name', 'user_id'],
});

/** The notes on a kind of noteables, with their reactions. */
export const notesWithAwards = (kind: Pick<NoteableKind, 'type' | 'column'>, further: Members = {}): RecordKind =>
  notesOn(kind, {
    award_emoji: parts(awardsOf({ type: 'Note', table: 'notes', column: 'note_id' }), 'note_id'),
    ...further,
  });
