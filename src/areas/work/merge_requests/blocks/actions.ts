/** Blocks: merge requests that are merged after others (docs/reference/merge_requests.md#blocks). */
import { sql } from 'kysely';
import { type Database, takeTurn } from '../../../../db/index.ts';
import { badRequest, conflict, notFound } from '../../../../http/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';

/** For one merge request. */
export const maximumBlocks = 100;
/** The turn in which blocks are added. */
export const blocksTurn = 'merge request blocks';

export const blockTexts = {
  twice: 'Block already exists',
  itself: 'This merge request cannot block itself',
  ring: 'This block would make a ring',
  many: `Maximum number of blocks (${maximumBlocks}) exceeded`,
};

/** Whether a merge request waits for another one, directly or through others. */
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
 * Has a merge request wait for another one.
 * @returns the id of the block
 * @throws ApiError 400 for a ring or too many blocks, 409 for one that is there
 */
export async function addBlock(
  tx: Database,
  { blocking_id, blocked_id }: { blocking_id: number; blocked_id: number },
): Promise<number> {
  if (blocking_id === blocked_id) throw badRequest(blockTexts.itself);
  // One at a time, so that two blocks that are added at once make no ring together.
  await takeTurn(tx, blocksTurn);
  // A merge that is under way looks again behind this lock.
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

/** Looks again at what waits to be merged automatically. */
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

/** Looks again at those that waited for a merge request, which is merged. @param tx the transaction that says so */
export async function wakeBlocked(tx: Database, blocking_id: number): Promise<void> {
  const blocked = tx.selectFrom('merge_request_blocks').select('blocked_id').where('blocking_id', '=', blocking_id);
  const rows = await blocked.execute();
  if (rows.length > 0)
    await wake(
      tx,
      rows.map(({ blocked_id }) => blocked_id),
    );
}
