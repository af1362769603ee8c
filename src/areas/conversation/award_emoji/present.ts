/** How reactions appear in replies (labels-milestones-iterations-epics.md section 5). */
import { type Static, Type } from 'typebox';
import { Id, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow } from '../../people/users/index.ts';

export const AwardEmoji = resource('AwardEmoji', {
  id: Id,
  name: Type.String({ description: 'Of the emoji, without colons' }),
  user: UserBasic,
  created_at: Timestamp,
  updated_at: Timestamp,
  awardable_id: Id,
  awardable_type: Type.Enum(['Issue', 'Epic', 'Note']),
  url: Type.Null({ description: 'Of the picture of an emoji of the group itself, of which there are none' }),
});

/** A reaction as `awardRows` reads it. */
export interface AwardRow {
  id: number;
  name: string;
  user: UserBasicRow;
  issue_id: number | null;
  epic_id: number | null;
  note_id: number | null;
  created_at: string;
  updated_at: string;
}

/** What the reaction is to. */
function awardableOf({
  issue_id,
  epic_id,
  note_id,
}: AwardRow): Pick<Static<typeof AwardEmoji>, 'awardable_id' | 'awardable_type'> {
  if (issue_id !== null) return { awardable_id: issue_id, awardable_type: 'Issue' };
  if (epic_id !== null) return { awardable_id: epic_id, awardable_type: 'Epic' };
  return { awardable_id: note_id!, awardable_type: 'Note' };
}

/** @param url the external address of the server */
export const presentAward = (url: string, row: AwardRow): Static<typeof AwardEmoji> => ({
  id: row.id,
  name: row.name,
  user: presentUserBasic(url, row.user),
  created_at: row.created_at,
  updated_at: row.updated_at,
  ...awardableOf(row),
  url: null,
});
