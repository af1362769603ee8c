/** Rules that grant a group: each loads it together with what the caller may do in it. */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { forbidden, notFound, unauthorized } from '../http/errors.ts';
import { levels, type Role } from './levels.ts';
import type { MaybeCaller } from './projects.ts';

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
  /** The caller's level: 50 for administrators, 0 for who is no member. */
  access_level: number;
}

const columns = sql.raw(
  'id name path full_path parent_id traversal_ids visibility project_creation_level subgroup_creation_level default_branch membership_lock'
    .split(' ')
    .map((column) => `namespaces.${column}`)
    .join(', '),
);

/** The caller's level in the group of each row of `namespaces`. */
export const groupLevel = (caller: MaybeCaller) =>
  !caller
    ? sql<number>`0`
    : caller.admin
      ? sql<number>`50`
      : sql<number>`coalesce((select max(access_level) from group_authorizations
                       where user_id = ${caller.id} and group_id = namespaces.id and (expires_at is null or expires_at > current_date)), 0)`;

/**
 * The group that `id` names, with the caller's level in it.
 * @param id an id or a full path, compared without case
 */
export async function groupFor(db: Kysely<DB>, caller: MaybeCaller, id: string): Promise<Group | undefined> {
  const isId = /^-?\d+$/.test(id);
  if (isId && !Number.isSafeInteger(Number(id))) return undefined;
  const { rows } = await sql<Group>`
    select ${columns}, ${groupLevel(caller)} as access_level from namespaces
     where kind = 'group' and ${isId ? sql`id = ${Number(id)}` : sql`full_path = ${id}`}`.execute(db);
  return rows[0];
}

/** Whoever is a member somewhere below a group may know that the group exists. */
async function isMemberBelow(db: Kysely<DB>, caller: Caller, group: Group): Promise<boolean> {
  const { rows } = await sql`
    select from project_authorizations
      join projects on projects.id = project_authorizations.project_id
      join namespaces on namespaces.id = projects.namespace_id
     where user_id = ${caller.id} and (expires_at is null or expires_at > current_date) and traversal_ids @> ${[group.id]}::bigint[]
    union all
    select from group_authorizations join namespaces on namespaces.id = group_id
     where user_id = ${caller.id} and (expires_at is null or expires_at > current_date) and traversal_ids @> ${[group.id]}::bigint[]
     limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether the caller may know of a group. */
export async function mayReadGroup(db: Kysely<DB>, caller: MaybeCaller, group: Group): Promise<boolean> {
  if (group.access_level > 0 || group.visibility === 'public') return true;
  if (!caller) return false;
  return (group.visibility === 'internal' && !caller.external) || isMemberBelow(db, caller, group);
}

async function visibleGroup({ db, caller, params }: AccessCall): Promise<Group> {
  const group = await groupFor(db, caller, params.id!);
  if (!group || !(await mayReadGroup(db, caller, group))) throw notFound('Group');
  return group;
}

/** Grants the group in `:id` to everyone who may know of it, signed in or not. */
export const groupVisible: Access<{ caller: MaybeCaller; group: Group }> = {
  rule: 'group:visible',
  async check(call) {
    if (!call.caller && call.method !== 'GET' && call.method !== 'HEAD') throw unauthorized();
    return { caller: call.caller, group: await visibleGroup(call) };
  },
};

/** Grants the group in `:id` to members who hold at least `role`; `guest` admits everyone signed in who may know of the group. */
export const groupRole = (role: Role): Access<{ caller: Caller; group: Group }> => ({
  rule: `group:${role}`,
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const group = await visibleGroup(call);
    if (group.access_level < levels[role] && role !== 'guest') throw forbidden();
    return { caller, group };
  },
});
