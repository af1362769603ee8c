/** What is read of groups. */
import { belongsToGroup, isGroup, isMemberOfGroup, isVisibleGroup, levels, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { namespaceFullName, sharedWithGroups } from '../../people/namespaces/index.ts';
import type { GroupDetailRow, GroupRow } from './present.ts';

/** All groups, in the columns that replies are made of. */
export const groupRows = (db: Database) =>
  db
    .selectFrom('namespaces')
    .selectAll('namespaces')
    // The last column of a name counts: not the group's own, but what holds for it.
    .select([namespaceFullName().as('full_name'), isGroup('archived').as('archived')])
    .where('namespaces.kind', '=', 'group')
    .$castTo<GroupRow>();

/**
 * One group, as a caller sees it.
 * @param id of a group that was there a moment ago
 * @throws ApiError 404 when it was removed meanwhile
 */
export async function groupRow(db: Database, caller: MaybeCaller, id: number): Promise<GroupDetailRow> {
  const query = groupRows(db).where('namespaces.id', '=', id);
  return found('Group', await query.select(sharedWithGroups(caller, 'namespaces').as('shared_with_groups')).executeTakeFirst());
}

export interface Belonging {
  owned?: boolean | undefined;
  min_access_level?: number | undefined;
  all_available?: boolean | undefined;
}

/**
 * A predicate on rows of `namespaces`: which groups a list shows to the caller. Without a wish these are all that he may know of for administrators and the
 * anonymous, and those that he belongs to for everybody else.
 */
export function listedGroups(caller: MaybeCaller, { owned = false, min_access_level, all_available }: Belonging) {
  if (owned) return isMemberOfGroup(caller, Math.max(levels.owner, min_access_level ?? 0));
  if (min_access_level !== undefined) return isMemberOfGroup(caller, min_access_level);
  const all = !caller || (all_available ?? caller.admin);
  return all ? isVisibleGroup(caller) : belongsToGroup(caller);
}
