/** Giving and taking back reactions. */
import type { Database } from '../../../db/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { type Awardable, columnOf, holdAwardable } from './queries.ts';
import { emojiNamed, oppositeOf } from './rules.ts';

/** Why a reaction was not added. */
export type AwardRefusal = 'is not a valid emoji name' | 'has already been taken';

async function takeBack(tx: Database, awardable: Awardable, user_id: number, name: string): Promise<boolean> {
  const [column, id] = columnOf(awardable);
  const removed = await tx
    .deleteFrom('award_emoji')
    .where(column, '=', id)
    .where('user_id', '=', user_id)
    .where('name', '=', name)
    .returning('id')
    .execute();
  return removed.length > 0;
}

/** What the thing itself is, for to-dos: whoever reacts to a comment has not dealt with what it is on. */
const isTarget = (awardable: Awardable): awardable is Exclude<Awardable, { note_id: number }> => !('note_id' in awardable);

/**
 * Adds a reaction. A vote takes the place of the opposite one.
 * @param tx the transaction of it
 * @param name of an emoji, without colons
 * @returns the id of the reaction, or why there is none
 */
export async function addAward(
  tx: Database,
  awardable: Awardable,
  user_id: number,
  name: string,
): Promise<number | AwardRefusal> {
  const known = emojiNamed(name);
  if (known === undefined) return 'is not a valid emoji name';
  const opposite = oppositeOf(known);
  if (opposite !== undefined) {
    await holdAwardable(tx, awardable);
    await takeBack(tx, awardable, user_id, opposite);
  }
  const added = await tx
    .insertInto('award_emoji')
    .values({ ...awardable, user_id, name: known })
    .onConflict((taken) => taken.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) return 'has already been taken';
  if (isTarget(awardable)) await doneTodos(tx, awardable, user_id);
  return added.id;
}

/**
 * Gives a reaction, or takes it back where there is one.
 * @param tx the transaction of it
 * @param name of an emoji, without colons
 * @returns false for what is no name of an emoji
 */
export async function toggleAward(tx: Database, awardable: Awardable, user_id: number, name: string): Promise<boolean> {
  const known = emojiNamed(name);
  if (known === undefined) return false;
  if (!(await takeBack(tx, awardable, user_id, known))) await addAward(tx, awardable, user_id, known);
  return true;
}
