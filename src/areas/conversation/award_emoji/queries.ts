/** Queries for reactions. */
import { sql } from 'kysely';
import {
  type MaybeCaller,
  type OnNoteable,
  type Stored,
  type StoredColumn,
  storedKinds,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { userBasicJson } from '../../people/users/index.ts';
import { isOn, isVisibleNote } from '../notes/queries.ts';
import { mayComment, mayReadInternal } from '../notes/rules.ts';

/** The target of a reaction: a noteable with a row, or a note on one. */
export interface Awardable {
  kind: { type: string; table: string; column: StoredColumn | 'note_id' };
  id: number;
}

const noteKind = { type: 'Note', table: 'notes', column: 'note_id' } as const;

/** All kinds of awardables. */
export const awardableKinds: readonly Awardable['kind'][] = [...storedKinds, noteKind];

/** The reactions to one awardable, with the columns of replies. */
export const awardRows = (db: Database, { kind, id }: Awardable) =>
  db
    .selectFrom('award_emoji')
    .innerJoin('users', 'users.id', 'award_emoji.user_id')
    .select(['award_emoji.id', 'award_emoji.name'])
    .select(['award_emoji.user_id', 'award_emoji.created_at', 'award_emoji.updated_at'])
    .select(userBasicJson('users').as('user'))
    .where(`award_emoji.${kind.column}`, '=', id);

/** Locks the awardable until the end of the transaction, so that a user cannot vote both ways concurrently. */
export async function holdAwardable(tx: Database, { kind, id }: Awardable): Promise<void> {
  await sql`select from ${sql.table(kind.table)} where id = ${id} for no key update`.execute(tx);
}

/** The awardable, and whether the caller may react to it. */
export interface Target {
  awardable: Awardable;
  is_open: boolean;
}

/**
 * The awardable of a path: an issuable, or a note on it. System notes cannot be reacted to.
 * @throws ApiError 404 for a note that does not exist or is hidden from the caller
 */
export async function targetOf(
  db: Database,
  { caller, on }: OnNoteable<MaybeCaller, Stored>,
  note_id: number | undefined,
): Promise<Target> {
  const is_open = mayComment(on);
  if (note_id === undefined) return { awardable: on, is_open };
  const query = db.selectFrom('notes').select(['notes.id', 'notes.system']).where('notes.id', '=', note_id);
  const seen = query.where(isOn(on)).where(isVisibleNote(caller, mayReadInternal(on)));
  const note = found('Award Emoji', await seen.executeTakeFirst());
  return { awardable: { kind: noteKind, id: note.id }, is_open: is_open && !note.system };
}
