/** How reactions appear in replies (docs/reference/award_emoji.md). */
import { type Static, Type } from 'typebox';
import { Id, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow } from '../../people/users/index.ts';
import { type Awardable, awardableKinds } from './queries.ts';

export const AwardEmoji = resource('AwardEmoji', {
  id: Id,
  name: Type.String({ description: 'Name of the emoji, without colons' }),
  user: UserBasic,
  created_at: Timestamp,
  updated_at: Timestamp,
  awardable_id: Id,
  awardable_type: Type.Enum(awardableKinds.map(({ type }) => type)),
  url: Type.Null({ description: 'Always null: there are no custom emoji' }),
});

/** A reaction as `awardRows` reads it. */
export interface AwardRow {
  id: number;
  name: string;
  user: UserBasicRow;
  created_at: string;
  updated_at: string;
}

/**
 * @param url the external address of the server
 * @param awardable the target of the reaction
 */
export const presentAward = (url: string, { kind, id }: Awardable, row: AwardRow): Static<typeof AwardEmoji> => ({
  id: row.id,
  name: row.name,
  user: presentUserBasic(url, row.user),
  created_at: row.created_at,
  updated_at: row.updated_at,
  awardable_id: id,
  awardable_type: kind.type,
  url: null,
});
