/** Member roles: levels with single permissions on top, of the instance or of a top-level group (member-roles.md). */
import { type TBoolean, type TOptional, Type } from 'typebox';
import { admin, type Group, groupRole, type Permission, permissions } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  badRequest,
  type Conditions,
  del,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  type Page,
  pageOf,
  paginate,
  patch,
  post,
  put,
} from '../../../http/index.ts';
import { changeRole, createRole, deleteRole, type NewRole, type RoleChanges } from './actions.ts';
import { belongsTo, MemberRole, type MemberRoleRow, memberRoleColumns } from './queries.ts';

const flags = Object.fromEntries(permissions.map((name) => [name, optional(Type.Boolean())])) as Record<
  Permission,
  TOptional<TBoolean>
>;
const Level = Type.Enum([10, 15, 20, 30, 40, 50]);

const creation = { name: Type.String(), description: optional(nullable(Type.String())), base_access_level: Level, ...flags };
const change = {
  member_role_id: Id,
  name: optional(Type.String()),
  description: optional(nullable(Type.String())),
  base_access_level: optional(Level),
  ...flags,
};
const single = { member_role_id: Id };
/** Clients do not turn pages here, so that there are some only for those who ask. */
const pagesAsked = {
  page: optional(Type.Integer({ description: 'Number of the page; without it and `per_page`, all are sent' })),
  per_page: optional(Type.Integer({ description: 'Rows of a page, at most 100' })),
};
const usualPage = 20;

const returnsOne = { returns: one(MemberRole) };
const ofInstance = {
  access: admin,
  plan: 'ultimate',
  offerings: ['self-managed', 'dedicated'],
  elsewhere: () => badRequest('400 Bad request'),
} as const;
const ofGroups = {
  access: groupRole('owner'),
  plan: 'ultimate',
  offerings: ['hosted'],
  elsewhere: ({ url }: { url: string }) =>
    badRequest(`400 Bad request - Group-level custom roles are deprecated on self-managed instances. See ${url}/docs`),
} as const;

/** The roles of a top-level group, or of the instance, by name. */
async function rolesOf(
  db: Database,
  group_id: number | null,
  asked: { page?: number; per_page?: number },
): Promise<Page<MemberRoleRow>> {
  const roles = db.selectFrom('member_roles').select(memberRoleColumns).where(belongsTo(group_id)).orderBy('name').orderBy('id');
  if (asked.page !== undefined || asked.per_page !== undefined)
    return paginate(db, roles, { page: asked.page ?? 1, per_page: asked.per_page ?? usualPage });
  const items = await roles.execute();
  // The headers say of a page that is not full what they say of any, and what the links lead to.
  return { items, page: 1, per_page: Math.max(items.length, usualPage), total: items.length, has_more: false };
}

interface Change {
  db: Database;
  input: RoleChanges & { member_role_id: number };
}
const changed = ({ db, input: { member_role_id, ...changes } }: Change, group_id: number | null) =>
  changeRole(db, group_id, member_role_id, changes);

interface Removal extends Pick<Conditions, 'unmodified_since'> {
  db: Database;
  input: { member_role_id: number };
}
const removed = ({ db, input, unmodified_since }: Removal, group_id: number | null) =>
  deleteRole(db, group_id, input.member_role_id, unmodified_since);

/** @throws ApiError 400 for a group that stands in another */
function createInGroup(db: Database, { id, parent_id }: Group, role: NewRole): Promise<MemberRoleRow> {
  if (parent_id !== null) throw badRequest('Creation of member role is allowed only for root groups');
  return createRole(db, id, role);
}

const instanceRoutes = [
  get('/member_roles', {
    summary: 'List the roles of the instance, by name',
    ...ofInstance,
    input: pagesAsked,
    returns: pageOf(MemberRole),
    handle: ({ db, input }) => rolesOf(db, null, input),
  }),
  post('/member_roles', {
    summary: 'Add a role to the instance',
    ...ofInstance,
    ...returnsOne,
    input: creation,
    handle: ({ db, input }) => createRole(db, null, input),
  }),
  ...[patch, put].map((verb) =>
    verb('/member_roles/:member_role_id', {
      summary: 'Change a role of the instance',
      ...ofInstance,
      ...returnsOne,
      input: change,
      handle: (call) => changed(call, null),
    }),
  ),
  del('/member_roles/:member_role_id', {
    summary: 'Remove a role of the instance that nobody has',
    ...ofInstance,
    input: single,
    returns: nothing,
    handle: (call) => removed(call, null),
  }),
];

const changeInGroup = {
  ...change,
  group_id: optional(Type.Integer({ description: 'The same group: a role stays where it is' })),
};

const groupRoutes = [
  get('/groups/:id/member_roles', {
    summary: 'List the roles of the top-level group that a group stands in, by name',
    ...ofGroups,
    input: pagesAsked,
    returns: pageOf(MemberRole),
    handle: ({ db, group, input }) => rolesOf(db, group.traversal_ids[0]!, input),
  }),
  post('/groups/:id/member_roles', {
    summary: 'Add a role to a top-level group',
    ...ofGroups,
    ...returnsOne,
    input: creation,
    handle: ({ db, group, input }) => createInGroup(db, group, input),
  }),
  ...[patch, put].map((verb) =>
    verb('/groups/:id/member_roles/:member_role_id', {
      summary: 'Change a role of a top-level group',
      ...ofGroups,
      ...returnsOne,
      input: changeInGroup,
      handle: (call) => changed(call, call.group.id),
    }),
  ),
  del('/groups/:id/member_roles/:member_role_id', {
    summary: 'Remove a role of a top-level group that nobody has',
    ...ofGroups,
    input: single,
    returns: nothing,
    handle: (call) => removed(call, call.group.id),
  }),
];

export const memberRoleRoutes = [...instanceRoutes, ...groupRoutes];
