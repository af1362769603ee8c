/** Rules that grant a group: each loads it together with what the caller may do in it. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { forbidden, Moved, notFound, unauthorized } from '../http/errors.ts';
import { levels, type Role } from './levels.ts';
import { heldTogether, mayAct, type Permission, permissionsOfRoles, type RoleOptions, ruleOf } from './permissions.ts';
import { planInForce } from './plans.ts';
import type { MaybeCaller } from './projects.ts';
import { movedFrom } from './redirects.ts';
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
  /** Whether it or a group above it is archived. */
  archived: boolean;
  /** Whether it or a group above it is going to be removed. Only members know of it then. */
  marked_for_deletion: boolean;
  /** The caller's level: 50 for administrators, 0 for who is no member. */
  access_level: number;
  /** What roles add to it. */
  permissions: readonly Permission[];
}

const columns = sql.raw(
  'id name path full_path parent_id traversal_ids visibility project_creation_level subgroup_creation_level default_branch membership_lock'
    .split(' ')
    .map((column) => `namespaces.${column}`)
    .join(', '),
);

/** A predicate on rows of `group_authorizations`: they count now. Minimal access does so only under a plan that has it. */
export const countsInGroup = sql<boolean>`
  ((expires_at is null or expires_at > current_date) and (access_level > ${sql.lit(levels.minimal)} or ${planInForce} <> 'free'))`;

/** The caller's level in the group of each row of `namespaces`. */
export const groupLevel = (caller: Pick<Caller, 'id' | 'admin'> | undefined) =>
  !caller
    ? sql<number>`0`
    : caller.admin
      ? sql<number>`50`
      : sql<number>`coalesce((select max(access_level) from group_authorizations
                       where user_id = ${caller.id} and group_id = namespaces.id and ${countsInGroup}), 0)`;

/**
 * A predicate on rows of `namespaces`: the caller is a member of the group. What an administrator may do without being one does not count.
 * @param level the least access level
 */
export const isMemberOfGroup = (caller: MaybeCaller, level: number): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : sql`exists (select from group_authorizations
                   where user_id = ${caller.id} and group_id = namespaces.id and access_level >= ${level} and ${countsInGroup})`;

/**
 * A predicate on rows of `namespaces`: the caller is a member of the group, or of a group or project below it. Whoever is a member below a group may know
 * that the group exists.
 */
export const belongsToGroup = (caller: MaybeCaller): RawBuilder<SqlBool> =>
  !caller
    ? sql`false`
    : sql`namespaces.id in (
        select unnest(place.traversal_ids) from namespaces place where place.id in (
          select group_id from group_authorizations where user_id = ${caller.id} and ${countsInGroup}
          union all
          select projects.namespace_id from project_authorizations join projects on projects.id = project_id
           where user_id = ${caller.id} and (expires_at is null or expires_at > current_date)))`;

/** A predicate on rows of `namespaces`: the caller may know of the group, as `mayReadGroup` says for one. */
export function isVisibleGroup(caller: MaybeCaller): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`true`;
  const isShown =
    !caller || caller.external
      ? sql<SqlBool>`namespaces.visibility = 'public'`
      : sql<SqlBool>`namespaces.visibility <> 'private'`;
  const isOpen = sql<SqlBool>`(${isShown} and not ${isListedGroup('marked_for_deletion')})`;
  return caller ? sql`(${isOpen} or ${belongsToGroup(caller)})` : isOpen;
}

/**
 * The group that `id` names, with the caller's level in it.
 * @param id an id or a full path, compared without case
 */
export async function groupFor(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Group | undefined> {
  const isId = /^-?\d+$/.test(id);
  // PostgreSQL knows no text with NUL.
  if (isId ? !Number.isSafeInteger(Number(id)) : id.includes('\0')) return undefined;
  const user_id = caller && !caller.admin ? caller.id : null;
  const { rows } = await sql<Group>`
    select ${columns}, ${caller?.admin ? sql.lit(levels.owner) : sql`held.access_level`} as access_level,
           ${permissionsOfRoles(sql`held.roles`)} as permissions, ${isGroup('archived')} as archived,
           ${isGroup('marked_for_deletion')} as marked_for_deletion
      from namespaces, lateral (select ${heldTogether} from group_authorizations
                                 where user_id = ${user_id}::bigint and group_id = namespaces.id and ${countsInGroup}) held
     where kind = 'group' and ${isId ? sql`id = ${Number(id)}` : sql`full_path = ${id}`}`.execute(db);
  return rows[0];
}

/** Whether the caller may know of a group. */
export async function mayReadGroup(db: Kysely<DB>, caller: MaybeCaller, group: Group): Promise<boolean> {
  if (group.access_level > 0) return true;
  if (group.visibility === 'public' && !group.marked_for_deletion) return true;
  if (!caller) return false;
  if (group.visibility === 'internal' && !caller.external && !group.marked_for_deletion) return true;
  const { rows } = await sql`select from namespaces where id = ${group.id} and ${belongsToGroup(caller)}`.execute(db);
  return rows.length > 0;
}

/**
 * The group that `id` names, if the caller may know of it; for groups that a parameter names.
 * @throws ApiError 404
 */
export async function visibleGroup(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Group> {
  const group = await groupFor(db, caller, id);
  if (!group || !(await mayReadGroup(db, caller, group))) throw notFound('Group');
  return group;
}

/** The group in `:id`, or where it has moved to, if the caller may know of it. */
async function groupInPath({ db, caller, params }: AccessCall): Promise<Group> {
  const group = await groupFor(db, caller, params.id!);
  if (group && (await mayReadGroup(db, caller, group))) return group;
  const id = group ? undefined : await movedFrom(db, 'group', params.id!);
  const moved = id === undefined ? undefined : await groupFor(db, caller, String(id));
  throw moved && (await mayReadGroup(db, caller, moved)) ? new Moved('group', moved.id) : notFound('Group');
}

/** Grants the group in `:id` to everyone who may know of it, signed in or not. */
export const groupVisible: Access<{ caller: MaybeCaller; group: Group }> = {
  rule: 'group:visible',
  async check(call) {
    if (!call.caller && call.method !== 'GET' && call.method !== 'HEAD') throw unauthorized();
    return { caller: call.caller, group: await groupInPath(call) };
  },
};

/**
 * Grants the group in `:id` to members who hold at least `role`, or the permission that stands in for it; `guest` admits everyone signed in who may know of the
 * group.
 */
export const groupRole = (role: Role, { permission }: RoleOptions = {}): Access<{ caller: Caller; group: Group }> => ({
  rule: ruleOf(`group:${role}`, permission),
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const group = await groupInPath(call);
    // What stands at the top is never removed by a permission.
    const counting = permission === 'remove_group' && group.parent_id === null ? undefined : permission;
    if (!mayAct(group, role, counting)) throw forbidden();
    return { caller, group };
  },
});

/** Grants administrators the group in `:id`. To others it is as known or hidden as always. */
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
