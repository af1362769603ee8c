/**
 * Moves references. The transaction that deletes the row in `reference_updates` also writes the effects of the move, so the effects are written exactly once: by the request or,
 * after a crash, by `settleReferenceUpdates`.
 */
import { type Database, repeated } from '../../../../db/index.ts';
import { RefConflict, RefMoved, type RefUpdate, updateRefs } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { Owner, RepositoryKind, WriteEffects } from '../../../../services/index.ts';
import type { Mover } from '../definition.ts';
import { ownedRepository } from '../git.ts';
import { endMerge, lockForMerge, type Merge } from './merge_actions.ts';

/** The options of a push, as they are kept with it. */
export const sealedOptions = ({ secrets }: Pick<Services, 'secrets'>, options: readonly string[]): Buffer =>
  secrets.seal('push options', JSON.stringify(options));

/**
 * Records that references are about to move.
 * @returns the id of the row, for `refsChanged` or `withdrawUpdates`
 */
export async function announceUpdates<O extends Owner>(
  db: Database,
  { kind, owner, user_id, changes, merge }: Mover<O>,
  updates: readonly RefUpdate[],
): Promise<number> {
  const { id } = await db
    .insertInto('reference_updates')
    .values({
      [kind.column]: owner.id,
      storage: owner.storage,
      user_id,
      updates: JSON.stringify(updates),
      changes: changes && JSON.stringify(changes),
      ...(merge ? { merge_request_id: merge.merge_request_id, merge: JSON.stringify(merge.outcome) } : {}),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Deletes the announcement of a move that did not happen. A merge request that it would have merged is open again. */
export async function withdrawUpdates(db: Database, id: number): Promise<void> {
  const row = db.deleteFrom('reference_updates').where('id', '=', id).returning('merge_request_id');
  await db
    .with('withdrawn', () => row)
    .updateTable('merge_requests')
    .from('withdrawn')
    .set({ state: 'opened' })
    .whereRef('merge_requests.id', '=', 'withdrawn.merge_request_id')
    .where('state', '=', 'locked')
    .execute();
}

/**
 * Moves references atomically, and writes the effects.
 * @param updates at least one; each reference must still be at its `old`
 * @throws RefMoved if one has moved, RefConflict if one cannot exist beside another; then nothing has moved
 */
export async function moveRefs<O extends Owner>(
  services: Services,
  mover: Mover<O>,
  updates: readonly RefUpdate[],
): Promise<void> {
  const writeThem = await moveRefsBeforeEffects(services, mover, updates);
  await writeThem();
}

/**
 * Moves references like `moveRefs`, for a caller that lets others move them again before the effects are written.
 * @returns a function that writes the effects; after a crash they are written when the move is settled
 * @throws RefMoved, RefConflict as `moveRefs`
 */
export async function moveRefsBeforeEffects<O extends Owner>(
  services: Services,
  mover: Mover<O>,
  updates: readonly RefUpdate[],
): Promise<() => Promise<void>> {
  const id = await announceUpdates(services.db, mover, updates);
  await moveAnnounced(services, mover, updates, id);
  return () => haveMoved(services, mover, updates, id);
}

/**
 * Moves references like `moveRefs`, and merges a merge request with them. It is locked in the transaction that announces the move, and marked as merged in the one that writes the
 * effects; so it is merged exactly once, and only if the branch has moved.
 * @param check locks the merge request in the first of these transactions, and throws if a precondition has changed since the merge was prepared
 * @returns false, without a move, if the merge request is not open
 * @throws RefMoved, RefConflict as `moveRefs`; the merge request is open again
 */
export async function moveRefsToMerge<O extends Owner>(
  services: Services,
  mover: Mover<O> & { merge: Merge },
  updates: readonly RefUpdate[],
  check: (tx: Database) => Promise<void>,
): Promise<boolean> {
  const id = await repeated(services.db, async (tx) => {
    await check(tx);
    const isLocked = await lockForMerge(tx, mover.merge.merge_request_id);
    return isLocked ? announceUpdates(tx, mover, updates) : undefined;
  });
  if (id === undefined) return false;
  await moveAnnounced(services, mover, updates, id);
  await haveMoved(services, mover, updates, id);
  return true;
}

async function moveAnnounced<O extends Owner>(
  services: Services,
  mover: Mover<O>,
  updates: readonly RefUpdate[],
  id: number,
): Promise<void> {
  try {
    await updateRefs(ownedRepository(services, mover), updates);
  } catch (error) {
    // After any other failure git may have moved them; the row stays, and settlement determines it.
    if (error instanceof RefMoved || error instanceof RefConflict) await withdrawUpdates(services.db, id);
    throw error;
  }
}

/** As `refsChanged`, by the mover and for all references. */
async function haveMoved<O extends Owner>(
  services: Services,
  { kind, owner, user_id, changes, push_options }: Mover<O>,
  moved: readonly RefUpdate[],
  update_id: number,
): Promise<void> {
  const options = push_options && { push_options };
  const writeEffects = await kind.follow(services, { owner, user_id, changes, update_id, moved, ...options });
  await services.db.transaction().execute((tx) => endMove(tx, update_id, moved, writeEffects));
}

/**
 * Writes the effects of a move, unless another process has written them.
 * @param id the row in `reference_updates`
 * @param moved the references that actually moved; for a push, possibly only some of those announced
 * @param push_options the options of a push, encrypted
 */
export async function refsChanged(
  services: Services,
  id: number,
  moved: readonly RefUpdate[],
  push_options?: Buffer,
): Promise<void> {
  const writeEffects = moved.length > 0 ? await effectsOf(services, id, moved, push_options) : async () => {};
  await services.db.transaction().execute((tx) => endMove(tx, id, moved, writeEffects));
}

/** The effects for a row in `reference_updates`; nothing if the row is gone. */
async function effectsOf(
  services: Services,
  update_id: number,
  moved: readonly RefUpdate[],
  push_options: Buffer | undefined,
): Promise<WriteEffects> {
  const row = await services.db
    .selectFrom('reference_updates')
    .selectAll()
    .where('id', '=', update_id)
    .executeTakeFirst();
  if (!row) return async () => {};
  const kind = kindOfRow(services, row);
  const owner = await kind.find(services.db, row[kind.column]!);
  if (!owner) return async () => {};
  const { user_id, changes } = row;
  return kind.follow(services, { owner, user_id, changes, update_id, moved, ...(push_options && { push_options }) });
}

/** The kind of the owner in a row of `reference_updates`. */
export function kindOfRow(
  { repositories }: Services,
  row: Readonly<Record<RepositoryKind['column'], number | null>>,
): RepositoryKind {
  const kind = repositories.kinds.find(({ column }) => row[column] !== null);
  if (!kind) throw new Error('The row of a move names no owner.');
  return kind;
}

async function endMove(
  tx: Database,
  id: number,
  moved: readonly RefUpdate[],
  writeEffects: WriteEffects,
): Promise<void> {
  const taken = await tx
    .deleteFrom('reference_updates')
    .where('id', '=', id)
    .returning(['user_id', 'merge_request_id', 'merge'])
    .executeTakeFirst();
  if (!taken) return;
  const { user_id, merge_request_id } = taken;
  if (merge_request_id !== null) {
    const merge = { merge_request_id, outcome: taken.merge as unknown as Merge['outcome'] };
    await endMerge(tx, merge, { user_id, has_moved: moved.length > 0 });
  }
  if (moved.length > 0) await writeEffects(tx);
}

/** Smaller than the id of any journal row. */
export const beforeAll = 0;

/**
 * Reads the references with which a repository was filled before its owner has a row.
 * @param moved all of them as created, including the default branch
 * @returns a function that writes their effects in the transaction that adds the owner: a crash leaves neither, so there is nothing to settle. No git work remains while that
 *   transaction locks the tree.
 */
export async function refsBegun<O extends Owner>(
  services: Services,
  { kind, owner, user_id }: Mover<O>,
  moved: readonly RefUpdate[],
): Promise<WriteEffects> {
  return kind.follow(services, { owner, user_id, changes: undefined, update_id: beforeAll, moved });
}
