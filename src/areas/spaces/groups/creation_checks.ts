/** Who may create a group where (docs/reference/groups.md). */
import { type Group, refuseReadOnlyGroup } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, forbidden } from '../../../http/index.ts';
import { mayCreateSubgroup } from './rules.ts';

/**
 * Refuses callers who may not create a group there.
 * @throws ApiError 403
 */
export async function checkMayCreateGroup(
  db: Database,
  caller: Pick<Caller, 'id' | 'admin' | 'external'>,
  parent: Group | undefined,
): Promise<void> {
  if (parent) refuseReadOnlyGroup(parent);
  if (caller.admin) return;
  if (parent && !mayCreateSubgroup(parent)) throw forbidden();
  if (parent) return;
  const user = await db
    .selectFrom('users')
    .select('can_create_group')
    .where('id', '=', caller.id)
    .executeTakeFirstOrThrow();
  if (!user.can_create_group || caller.external) throw forbidden();
}
