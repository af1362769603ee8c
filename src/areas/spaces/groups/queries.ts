/** Queries for groups. */
import { type SqlBool, sql } from 'kysely';
import {
  belongsToGroup,
  groupLevel,
  isGroup,
  isMemberOfGroup,
  isVisibleGroup,
  levels,
  type MaybeCaller,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { namespaceFullName, sharedWithGroups } from '../../people/namespaces/index.ts';
import type { GroupDetailRow, GroupRow } from './present.ts';

/** Of the first link of a group with a directory. */
const ofDirectory = <T>(column: 'cn' | 'access_level') => sql<T | null>`(
  select ${sql.ref(`ldap_group_links.${column}`)} from ldap_group_links
   where ldap_group_links.group_id = namespaces.id and cn is not null order by cn, id limit 1)`;

/** All groups, in the columns of responses. */
export const groupRows = (db: Database) =>
  db
    .selectFrom('namespaces')
    .selectAll('namespaces')
    // The last column of a name wins: the effective state replaces the group's own column.
    .select([namespaceFullName().as('full_name'), isGroup('archived').as('archived')])
    .select([ofDirectory<string>('cn').as('ldap_cn'), ofDirectory<number>('access_level').as('ldap_access')])
    .where('namespaces.kind', '=', 'group')
    .$castTo<GroupRow>();

/**
 * A predicate on rows of `namespaces`: the path or name of the group is taken directly in the namespace, so that the
 * group cannot move there.
 */
export function hasChildLike({ name, path }: { name: string; path: string }) {
  const full_path = sql`namespaces.full_path || ${`/${path}`}::citext`;
  return sql<SqlBool>`(
    exists (select from namespaces child where child.parent_id = namespaces.id and child.name = ${name})
    or exists (select from namespaces child where child.full_path = ${full_path})
    or exists (select from projects child where child.full_path = ${full_path}))`;
}

/**
 * One group, as visible to a caller.
 * @param id ID of a group that existed a moment ago
 * @throws ApiError 404 if it was deleted in the meantime
 */
export async function groupRow(db: Database, caller: MaybeCaller, id: number): Promise<GroupDetailRow> {
  const query = groupRows(db)
    .where('namespaces.id', '=', id)
    .select([sharedWithGroups(caller, 'namespaces').as('shared_with_groups'), groupLevel(caller).as('access_level')])
    .select(
      sql<boolean>`(select service_access_tokens_expiration_enforced from application_settings where id = 1)`.as(
        'service_access_tokens_expiration_enforced',
      ),
    );
  return found('Group', await query.executeTakeFirst());
}

export interface Belonging {
  owned?: boolean | undefined;
  min_access_level?: number | undefined;
  all_available?: boolean | undefined;
}

/**
 * A predicate on rows of `namespaces`: the groups of a list. Without filters these are all visible groups for administrators and anonymous callers, and the groups
 * that they belong to for others.
 */
export function listedGroups(caller: MaybeCaller, { owned = false, min_access_level, all_available }: Belonging) {
  if (owned) return isMemberOfGroup(caller, Math.max(levels.owner, min_access_level ?? 0));
  if (min_access_level !== undefined) return isMemberOfGroup(caller, min_access_level);
  const all = !caller || (all_available ?? caller.admin);
  return all ? isVisibleGroup(caller) : belongsToGroup(caller);
}
