/** Access rules that grant a group. Each loads it together with the caller's access to it. */

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { badRequest, forbidden, Moved, notFound, unauthorized } from '../http/errors.ts';
import { idIn } from '../http/ids.ts';
import { both, isReachableGroup, reachesGroup } from './client_addresses.ts';
import { countsToday } from './expiry.ts';
import type { MaybeCaller, Reading } from './instance.ts';
import { levels, type Role } from './levels.ts';
import { heldTogether, mayAct, type Permission, permissionsOfRoles, type RoleOptions, ruleOf } from './permissions.ts';
import { planInForce } from './plans.ts';
import type { FeatureLevel } from './projects.ts';
import { movedFrom } from './redirects.ts';
import { keptWithRights } from './rights_version.ts';
import { isGroup, isListedGroup } from './states.ts';

export interface Group {
  id: number;
  name: string;
  path: string;
  full_path: string;
  parent_id: number | null;
  traversal_ids: number[];
  visibility: 'private' | 'internal' | 'public';
  project_creation_level: string;
  subgroup_creation_level: string;
  default_branch: string | null;
  membership_lock: boolean;
  wiki_access_level: FeatureLevel;
  /** Whether the group or one of its ancestors is archived. */
  archived: boolean;
  /** Whether the group or one of its ancestors is marked for deletion. Only members see it then. */
  marked_for_deletion: boolean;
  /** The caller's access level: 50 for administrators, 0 without a membership. */
  access_level: number;
  /** The permissions that custom roles add. */
  permissions: readonly Permission[];
}

const columns = sql.raw(
  'id name path full_path parent_id traversal_ids visibility project_creation_level subgroup_creation_level default_branch membership_lock wiki_access_level'
    .split(' ')
    .map((column) => `namespaces.${column}`)
    .join(', '),
);

/** A predicate on rows of `group_authorizations`: they are in force. Minimal access requires a plan that has it. */
export const countsInGroup = sql<boolean>`
  (${countsToday()} and (access_level > ${sql.lit(levels.minimal)} or ${planInForce} <> 'free'))`;

/** The caller's access level in the group of each row of `namespaces`. */
export const groupLevel = (caller: Pick<Caller, 'id' | 'admin'> | undefined) =>
  !caller
    ? sql<number>`0`
    : caller.admin
      ? sql<number>`50`
      : sql<number>`coalesce((select max(access_level) from group_authorizations
                       where user_id = ${caller.id} and group_id = namespaces.id and ${countsInGroup}), 0)`;

/**
 * A predicate on rows of `namespaces`: the caller is a member of the group. Administrators need a membership for this.
 * @param level the minimum access level
 */
export const isMemberOfGroup = (caller: Reading, level: number): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : both(
        sql`exists (select from group_authorizations
                   where user_id = ${caller.id} and group_id = namespaces.id and access_level >= ${level} and ${countsInGroup})`,
        isReachableGroup(caller),
      );

/**
 * A predicate on rows of `namespaces`: the caller is a member of the group or of anything inside it. Members of something inside a group can see
 * the group.
 */
export const belongsToGroup = (caller: Reading): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : both(
        sql`namespaces.id in (
        select unnest(place.traversal_ids) from namespaces place where place.id in (
          select group_id from group_authorizations where user_id = ${caller.id} and ${countsInGroup}
          union all
          select projects.namespace_id from project_authorizations join projects on projects.id = project_id
           where user_id = ${caller.id} and ${countsToday()}))`,
        isReachableGroup(caller),
      );

/** A predicate on rows of `namespaces`: the group is visible to the caller, as `mayReadGroup` decides for one. */
export function isVisibleGroup(caller: Reading): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  const isShown =
    !caller || caller.external
      ? sql<SqlBool>`namespaces.visibility = 'public'`
      : sql<SqlBool>`namespaces.visibility <> 'private'`;
  const isOpen = both(sql`(${isShown} and not ${isListedGroup('marked_for_deletion')})`, isReachableGroup(caller));
  return caller ? sql`(${isOpen} or ${belongsToGroup(caller)})` : isOpen;
}

/** The caller who requests a group, and how the request names it. */
interface GroupQuestion {
  caller: Pick<Caller, 'id' | 'admin'> | undefined;
  id: string;
}

const keyOf = ({ caller, id }: GroupQuestion): string => `${caller?.admin ? 'admin' : (caller?.id ?? 'anyone')} ${id}`;

const grantedGroup = keptWithRights('group', keyOf, async (db, { caller, id }: GroupQuestion) => {
  const number = idIn(id);
  const user_id = caller && !caller.admin ? caller.id : null;
  const { rows } = await sql<Group>`
    select ${columns}, ${caller?.admin ? sql.lit(levels.owner) : sql`held.access_level`} as access_level,
           ${permissionsOfRoles(sql`held.roles`)} as permissions, ${isGroup('archived')} as archived,
           ${isGroup('marked_for_deletion')} as marked_for_deletion
      from namespaces, lateral (select ${heldTogether} from group_authorizations
                                 where user_id = ${user_id}::bigint and group_id = namespaces.id and ${countsInGroup}) held
     where kind = 'group' and ${number === undefined ? sql`full_path = ${id}` : sql`id = ${number}`}`.execute(db);
  return rows[0];
});

/**
 * The group that `id` names, with the caller's access level in it.
 * @param id an ID or a full path, compared without case
 * @param version the version of rights that applies; without one, the database is queried
 */
export async function groupFor(
  db: Kysely<DB>,
  caller: GroupQuestion['caller'],
  id: string,
  version?: string,
): Promise<Group | undefined> {
  // PostgreSQL accepts no NUL in texts.
  const group = id.includes('\0') ? undefined : await grantedGroup(db, { caller, id }, version);
  return group && reachesGroup(caller, group) ? group : undefined;
}

/** Whether a group is visible to the caller. */
export async function mayReadGroup(db: Kysely<DB>, caller: MaybeCaller, group: Group): Promise<boolean> {
  if (group.access_level > 0) return true;
  if (group.visibility === 'public' && !group.marked_for_deletion) return true;
  if (!caller) return false;
  if (group.visibility === 'internal' && !caller.external && !group.marked_for_deletion) return true;
  const { rows } = await sql`select from namespaces where id = ${group.id} and ${belongsToGroup(caller)}`.execute(db);
  return rows.length > 0;
}

/**
 * The group that `id` names, if it is visible to the caller; for groups that a parameter names.
 * @throws ApiError 404
 */
export async function visibleGroup(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Group> {
  const group = await groupFor(db, caller, id);
  if (!group || !(await mayReadGroup(db, caller, group))) throw notFound('Group');
  return group;
}

/**
 * The group that had a path before, if it is visible to the caller. Groups marked for deletion lost their path with that mark, and are left out.
 * @param path a full path that no group has now
 */
export async function movedGroup(db: Kysely<DB>, caller: MaybeCaller, path: string): Promise<Group | undefined> {
  const id = await movedFrom(db, 'group', path);
  const group = id === undefined ? undefined : await groupFor(db, caller, String(id));
  return group && !group.marked_for_deletion && (await mayReadGroup(db, caller, group)) ? group : undefined;
}

/** The group in `:id`, if it is visible to the caller. Pages lead on to a group that has moved; the API answers 404. */
async function groupInPath({ db, caller, params, rightsVersion }: AccessCall): Promise<Group> {
  const group = await groupFor(db, caller, params.id!, await rightsVersion());
  if (group && (await mayReadGroup(db, caller, group))) return group;
  const moved = group ? undefined : await movedGroup(db, caller, params.id!);
  throw moved ? new Moved('group', moved.id) : notFound('Group');
}

/** Grants the group in `:id` to everyone who can see it, signed in or not. */
export const groupVisible: Access<{ caller: MaybeCaller; group: Group }> = {
  rule: 'group:visible',
  anonymous: true,
  async check(call) {
    if (!call.caller && call.method !== 'GET' && call.method !== 'HEAD') throw unauthorized();
    return { caller: call.caller, group: await groupInPath(call) };
  },
};

/**
 * Grants the group in `:id` to members who have at least `role` or the given permission; `guest` admits every signed-in caller who can see the group.
 */
export const groupRole = (role: Role, { permission }: RoleOptions = {}): Access<{ caller: Caller; group: Group }> => ({
  rule: ruleOf(`group:${role}`, permission),
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const group = await groupInPath(call);
    // The permission applies to subgroups only.
    const counting = permission === 'remove_group' && group.parent_id === null ? undefined : permission;
    if (!mayAct(group, role, counting)) throw forbidden();
    return { caller, group };
  },
});

export const notTopLevelText = '400 Bad request - Only top-level groups have this';

/** Grants the group in `:id` to its owners if it is a top-level group. */
export const topLevelOwner: Access<{ caller: Caller; group: Group }> = {
  rule: 'group:owner',
  async check(call) {
    const granted = await groupRole('owner').check(call);
    if (granted.group.parent_id !== null) throw badRequest(notTopLevelText);
    return granted;
  },
};

/** The reason why the content of a group cannot be changed, as a sentence; undefined when it can. */
export function reasonForReadOnlyGroup({
  archived,
  marked_for_deletion,
}: Pick<Group, 'archived' | 'marked_for_deletion'>): string | undefined {
  if (archived) return 'The group is archived.';
  return marked_for_deletion ? 'The group is marked for deletion.' : undefined;
}

/** @throws ApiError 403 when the content of the group cannot be changed */
export function refuseReadOnlyGroup(group: Pick<Group, 'archived' | 'marked_for_deletion'>): void {
  const reason = reasonForReadOnlyGroup(group);
  if (reason !== undefined) throw forbidden(reason);
}

/** Grants administrators the group in `:id`. Others get 403 if they can see it, otherwise 404. */
export const groupForAdmin: Access<{ caller: Caller; group: Group }> = {
  rule: 'group:admin',
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const group = await groupInPath(call);
    if (!caller.admin) throw forbidden();
    return { caller, group };
  },
};
