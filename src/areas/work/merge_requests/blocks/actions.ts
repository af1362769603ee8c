/** Blocks: dependencies between merge requests that determine their merge order (docs/reference/merge_requests.md#blocks). */
import { sql } from 'kysely';
import { type Database, takeTurn } from '../../../../db/index.ts';
import { badRequest, conflict, notFound } from '../../../../http/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';

/** Per merge request. */
export const maximumBlocks = 100;
/** The key that serialises the addition of blocks. */
export const blocksTurn = 'merge request blocks';

export const blockTexts = {
  twice: 'Block already exists',
  itself: 'This merge request cannot block itself',
  ring: 'This block would make a ring',
  many: `Maximum number of blocks (${maximumBlocks}) exceeded`,
};

/** Whether a merge request depends on another one, directly or indirectly. */
async function waitsFor(tx: Database, id: number, other: number): Promise<boolean> {
  const { rows } = await sql`
    with recursive before (id) as (
      select ${id}::bigint
      union
      select blocking_id from merge_request_blocks join before on blocked_id = before.id
    )
    select from before where id = ${other}`.execute(tx);
  return rows.length > 0;
}

/**
 * Makes a merge request depend on another one.
 * @returns the id of the block
 * @throws ApiError 400 for a cycle or too many blocks, 409 if the block exists
 */
export async function addBlock(
  tx: Database,
  { blocking_id, blocked_id }: { blocking_id: number; blocked_id: number },
): Promise<number> {
  if (blocking_id === blocked_id) throw badRequest(blockTexts.itself);
  // Serialised, so that two concurrent additions cannot create a cycle together.
  await takeTurn(tx, blocksTurn);
  // A running merge rechecks blocks under this lock.
  await tx.selectFrom('merge_requests').select('id').where('id', '=', blocked_id).forNoKeyUpdate().executeTakeFirst();
  const { rows } = await sql<{ is_there: boolean; count: number }>`
    select coalesce(bool_or(blocking_id = ${blocking_id}), false) as is_there, count(*)::integer as count
      from merge_request_blocks where blocked_id = ${blocked_id}`.execute(tx);
  const { is_there, count } = rows[0]!;
  if (is_there) throw conflict(blockTexts.twice);
  if (count >= maximumBlocks) throw badRequest(blockTexts.many);
  if (await waitsFor(tx, blocking_id, blocked_id)) throw badRequest(blockTexts.ring);
  const added = tx.insertInto('merge_request_blocks').values({ blocking_id, blocked_id }).returning('id');
  return (await added.executeTakeFirstOrThrow()).id;
}

/** Rechecks pending auto-merges. */
const wake = async (tx: Database, ids: readonly number[]): Promise<void> => {
  const waiting = await tx
    .selectFrom('merge_requests')
    .select(sql<string>`head_commit_id`.as('sha'))
    .distinct()
    .where('id', '=', sql<number>`any(${ids}::bigint[])`)
    .where('auto_merge_user_id', 'is not', null)
    .where('head_commit_id', 'is not', null)
    .execute();
  await mergeWhenReady.enqueueEach(tx, waiting);
};

/**
 * Removes a block.
 * @throws ApiError 404
 */
export async function removeBlock(tx: Database, blocked_id: number, id: number): Promise<void> {
  const removed = tx.deleteFrom('merge_request_blocks').where('id', '=', id).where('blocked_id', '=', blocked_id);
  if (!(await removed.returning('id').executeTakeFirst())) throw notFound();
  await wake(tx, [blocked_id]);
}

/** Rechecks auto-merges that waited for a merge request. @param tx the transaction that marks it as merged */
export async function wakeBlocked(tx: Database, blocking_id: number): Promise<void> {
  const blocked = tx.selectFrom('merge_request_blocks').select('blocked_id').where('blocking_id', '=', blocking_id);
  const rows = await blocked.execute();
  if (rows.length > 0)
    await wake(
      tx,
      rows.map(({ blocked_id }) => blocked_id),
    );
}
