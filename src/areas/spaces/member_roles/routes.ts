/** Member roles: base levels with additional permissions, of the instance or of a top-level group (docs/reference/member_roles.md). */
import { type TBoolean, type TOptional, Type } from 'typebox';
import { admin, type Group, groupRole, type Permission, ProjectLevel, permissions } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type AnyEndpoint,
  alias,
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
  patch,
  post,
} from '../../../http/index.ts';
import { paginate } from '../../../lists/index.ts';
import { changeRole, createRole, deleteRole, type NewRole, type RoleChanges } from './actions.ts';
import { belongsTo, MemberRole, type MemberRoleRow, memberRoleColumns } from './queries.ts';

const flags = Object.fromEntries(permissions.map((name) => [name, optional(Type.Boolean())])) as Record<
  Permission,
  TOptional<TBoolean>
>;
const Level = ProjectLevel();

const creation = {
  name: Type.String(),
  description: optional(nullable(Type.String())),
  base_access_level: Level,
  ...flags,
};
const change = {
  member_role_id: Id,
  name: optional(Type.String()),
  description: optional(nullable(Type.String())),
  base_access_level: optional(Level),
  ...flags,
};
const single = { member_role_id: Id };
/** Clients expect complete lists here, so paging is only on request. */
const pagesAsked = {
  page: optional(Type.Integer({ description: 'Page number; without `page` and `per_page`, all roles are returned' })),
  per_page: optional(Type.Integer({ description: 'Roles per page, at most 100' })),
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

/** The roles of a top-level group or of the instance, by name. */
async function rolesOf(
  db: Database,
  group_id: number | null,
  asked: { page?: number; per_page?: number },
): Promise<Page<MemberRoleRow>> {
  const roles = db
    .selectFrom('member_roles')
    .select(memberRoleColumns)
    .where(belongsTo(group_id))
    .orderBy('name')
    .orderBy('id');
  if (asked.page !== undefined || asked.per_page !== undefined)
    return paginate(db, roles, { page: asked.page ?? 1, per_page: asked.per_page ?? usualPage });
  const items = await roles.execute();
  // A complete list has the same headers and links as a page of default size.
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

/** @throws ApiError 400 for a subgroup */
function createInGroup(db: Database, { id, parent_id }: Group, role: NewRole): Promise<MemberRoleRow> {
  if (parent_id !== null) throw badRequest('Creation of member role is allowed only for root groups');
  return createRole(db, id, role);
}

const roleTexts = [
  'Name <reason>',
  'Cannot create a member role with no enabled permissions',
  '<Permission> has to be enabled in order to enable <permission>',
  '<several reasons, with commas between them>',
];

/** An update, which clients may send as PATCH or PUT. */
const withPut = (change: AnyEndpoint): AnyEndpoint[] => [change, alias(change, { method: 'PUT' })];

const instanceRoutes = [
  get('/member_roles', {
    operation: 'listInstanceMemberRoles',
    summary: "List the instance's member roles, by name",
    ...ofInstance,
    input: pagesAsked,
    returns: pageOf(MemberRole),
    handle: ({ db, input }) => rolesOf(db, null, input),
  }),
  post('/member_roles', {
    operation: 'createInstanceMemberRole',
    summary: 'Create a member role of the instance',
    ...ofInstance,
    ...returnsOne,
    input: creation,
    refusals: { 400: roleTexts },
    handle: ({ db, input }) => createRole(db, null, input),
  }),
  ...withPut(
    patch('/member_roles/:member_role_id', {
      operation: 'updateInstanceMemberRole',
      summary: 'Update a member role of the instance',
      ...ofInstance,
      ...returnsOne,
      input: change,
      refusals: {
        400: [
          'Base access level cannot be changed. Please create a new Member Role instead.',
          "Namespace can't be changed",
          ...roleTexts,
        ],
        404: '404 Member Role Not Found',
      },
      handle: (call) => changed(call, null),
    }),
  ),
  del('/member_roles/:member_role_id', {
    operation: 'deleteInstanceMemberRole',
    summary: 'Delete a member role of the instance that is not assigned',
    ...ofInstance,
    input: single,
    conditional: true,
    returns: nothing,
    refusals: {
      400: 'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
      404: '404 Member Role Not Found',
    },
    handle: (call) => removed(call, null),
  }),
];

const changeInGroup = {
  ...change,
  group_id: optional(Type.Integer({ description: 'Must be the same group: roles cannot be moved' })),
};

const groupRoutes = [
  get('/groups/:id/member_roles', {
    operation: 'listGroupMemberRoles',
    summary: "List the member roles of a group's top-level group, by name",
    ...ofGroups,
    input: pagesAsked,
    returns: pageOf(MemberRole),
    handle: ({ db, group, input }) => rolesOf(db, group.traversal_ids[0]!, input),
  }),
  post('/groups/:id/member_roles', {
    operation: 'createGroupMemberRole',
    summary: 'Create a member role in a top-level group',
    description: 'A top-level group has at most 10 roles.',
    ...ofGroups,
    ...returnsOne,
    input: creation,
    refusals: {
      400: [
        'Creation of member role is allowed only for root groups',
        'Namespace maximum number of Member Roles are already in use by the group hierarchy. Please delete an existing Member Role.',
        ...roleTexts,
      ],
    },
    handle: ({ db, group, input }) => createInGroup(db, group, input),
  }),
  ...withPut(
    patch('/groups/:id/member_roles/:member_role_id', {
      operation: 'updateGroupMemberRole',
      summary: 'Update a member role of a top-level group',
      ...ofGroups,
      ...returnsOne,
      input: changeInGroup,
      refusals: {
        400: [
          'Base access level cannot be changed. Please create a new Member Role instead.',
          "Namespace can't be changed",
          ...roleTexts,
        ],
        404: '404 Member Role Not Found',
      },
      handle: (call) => changed(call, call.group.id),
    }),
  ),
  del('/groups/:id/member_roles/:member_role_id', {
    operation: 'deleteGroupMemberRole',
    summary: 'Delete a member role of a top-level group that is not assigned',
    ...ofGroups,
    input: single,
    conditional: true,
    returns: nothing,
    refusals: {
      400: 'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
      404: '404 Member Role Not Found',
    },
    handle: (call) => removed(call, call.group.id),
  }),
];

export const memberRoleRoutes = [...instanceRoutes, ...groupRoutes];
