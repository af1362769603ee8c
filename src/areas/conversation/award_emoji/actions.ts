/** Adding and removing reactions. */
import { sql } from 'kysely';
import { issuableKinds, type StoredKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { deleteFound } from '../../../http/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { tellOfAward } from './hook_actions.ts';
import { type Awardable, holdAwardable } from './queries.ts';
import { emojiNamed, oppositeOf } from './rules.ts';

/** Why a reaction was not added. */
export type AwardRefusal = 'is not a valid emoji name' | 'has already been taken';

/** The target of a reaction, and how hooks show it or the commented item. */
interface Reactable extends Awardable {
  hook: HookItem<StoredKind> | undefined;
}

async function takeBack(tx: Database, { kind, id, hook }: Reactable, user_id: number, name: string): Promise<boolean> {
  const own = sql`award_emoji.${sql.ref(kind.column)} = ${id} and award_emoji.user_id = ${user_id} and award_emoji.name = ${name}`;
  await tellOfAward(tx, hook, 'revoke', own);
  const removed = await tx
    .deleteFrom('award_emoji')
    .where(kind.column, '=', id)
    .where('user_id', '=', user_id)
    .where('name', '=', name)
    .returning('id')
    .execute();
  return removed.length > 0;
}

/**
 * Adds a reaction. A vote replaces the opposite one.
 * @param tx the transaction of the reaction
 * @param name of an emoji, without colons
 * @returns the id of the reaction, or the reason why it was not added
 */
export async function addAward(
  tx: Database,
  awardable: Reactable,
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
    .values({ [awardable.kind.column]: awardable.id, user_id, name: known })
    .onConflict((taken) => taken.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) return 'has already been taken';
  await tellOfAward(tx, awardable.hook, 'award', sql`award_emoji.id = ${added.id}`);
  // Reacting to a comment does not resolve to-do items on its issue.
  const kind = issuableKinds.find((issuable) => issuable === awardable.kind);
  if (kind) await doneTodos(tx, { kind, id: awardable.id }, user_id);
  return added.id;
}

/**
 * Adds a reaction, or removes it if it exists.
 * @param tx the transaction of the reaction
 * @param name of an emoji, without colons
 * @returns false for an unknown emoji
 */
export async function toggleAward(tx: Database, awardable: Reactable, user_id: number, name: string): Promise<boolean> {
  const known = emojiNamed(name);
  if (known === undefined) return false;
  if (!(await takeBack(tx, awardable, user_id, known))) await addAward(tx, awardable, user_id, known);
  return true;
}

/**
 * Removes a reaction.
 * @throws ApiError 404 if it no longer exists
 */
export const removeAward = (db: Database, { hook }: Pick<Reactable, 'hook'>, id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await tellOfAward(tx, hook, 'revoke', sql`award_emoji.id = ${id}`);
    await deleteFound(tx, 'award_emoji', id);
  });
