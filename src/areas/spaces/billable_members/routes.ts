/**
 * Billable members: which users take a seat of the license in a top-level group, and through which memberships
 * (docs/reference/billable_members.md).
 */
import { type Static, Type } from 'typebox';
import { groupMembersPage, notTopLevelText, projectMembersPage, topLevelOwner } from '../../../access/index.ts';
import {
  badRequest,
  DateOnly,
  del,
  found,
  get,
  Id,
  nothing,
  nullable,
  optional,
  pageOf,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic } from '../../people/users/index.ts';
import { unlessLocked } from '../members/lock_checks.ts';
import { removeEverywhere } from '../members/removal_actions.ts';
import { lastOwnerText, roleName } from '../members/rules.ts';
import { managers, sourceFor } from '../members/source_access.ts';
import { billableUsers, membershipsIn, membershipTypes, orders } from './queries.ts';

const BillableMember = resource('BillableMember', {
  id: Id,
  username: Type.String(),
  name: Type.String(),
  state: Type.String(),
  locked: Type.Boolean(),
  public_email: nullable(Type.String()),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
  email: nullable(Type.String({ description: 'The public address' })),
  last_activity_on: nullable(DateOnly),
  membership_type: Type.Enum([...membershipTypes]),
  removable: Type.Boolean({ description: 'Whether deleting the member frees the seat' }),
  created_at: Timestamp,
  is_last_owner: Type.Boolean(),
  last_login_at: nullable(Timestamp),
  membership_state: Type.Enum(['active']),
});

const Membership = resource('BillableMembership', {
  id: Id,
  source_id: Id,
  source_full_name: Type.String(),
  source_members_url: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(DateOnly),
  access_level: Type.Object({
    string_value: Type.String(),
    integer_value: Type.Integer(),
    custom_role: nullable(Type.Object({ id: Id, name: Type.String() })),
  }),
});

const sorts = {
  access_level_asc: ['access_level', 'asc'],
  access_level_desc: ['access_level', 'desc'],
  last_joined: ['joined', 'desc'],
  oldest_joined: ['joined', 'asc'],
  name_asc: ['name', 'asc'],
  name_desc: ['name', 'desc'],
  recent_sign_in: ['sign_in', 'desc'],
  oldest_sign_in: ['sign_in', 'asc'],
  last_activity_on_asc: ['last_activity_on', 'asc'],
  last_activity_on_desc: ['last_activity_on', 'desc'],
} as const satisfies Readonly<Record<string, readonly [keyof typeof orders, 'asc' | 'desc']>>;

const base = '/groups/:id/billable_members';
const plan = 'premium';
const shared = { access: topLevelOwner, plan } as const;
const which = { user_id: Id };
const missing = '404 User Not Found';
const lastText = `400 Bad request - ${lastOwnerText}`;

const memberships = (kind: 'direct' | 'invited') =>
  get(`${base}/:user_id/${kind === 'direct' ? 'memberships' : 'indirect'}`, {
    operation: kind === 'direct' ? 'listBillableMemberships' : 'listIndirectBillableMemberships',
    summary:
      kind === 'direct'
        ? 'List the memberships of a billable member in a top-level group and below it'
        : 'List what invited groups make a billable member a member of, in a top-level group and below it',
    ...shared,
    input: { ...which, ...paging },
    returns: pageOf(Membership),
    refusals: { 400: notTopLevelText, 404: missing },
    handle: async ({ db, url, group, input }) => {
      const user = billableUsers(db, group.id, undefined).where('users.id', '=', input.user_id);
      found('User', await user.executeTakeFirst());
      const page = await paginate(db, membershipsIn(db, group.id, input.user_id, kind), input);
      return mapPage(page, ({ id, access_level, role_id, role_name, ...row }): Static<typeof Membership> => {
        const page = row.project_id === null ? groupMembersPage : projectMembersPage;
        return {
          id,
          source_id: row.source_id,
          source_full_name: row.full_name,
          source_members_url: url + page(row.full_path),
          created_at: row.created_at,
          expires_at: row.expires_at,
          access_level: {
            string_value: roleName(access_level),
            integer_value: access_level,
            custom_role: role_id === null ? null : { id: role_id, name: role_name! },
          },
        };
      });
    },
  });

export const billableMemberRoutes = [
  get(base, {
    operation: 'listBillableMembers',
    summary: 'List the users who take a seat in a top-level group',
    description: 'Members of the group and of what is in it, and those whom invited groups make members.',
    ...shared,
    input: {
      search: optional(Type.String({ description: 'Part of the name or username' })),
      sort: Type.Enum(Object.keys(sorts) as (keyof typeof sorts)[], { default: 'name_asc' }),
      ...paging,
    },
    returns: pageOf(BillableMember),
    refusals: { 400: notTopLevelText },
    handle: async ({ db, url, group, input }) => {
      const [order, direction] = sorts[input.sort];
      const users = billableUsers(db, group.id, input.search);
      const ordered = users.orderBy(orders[order](group.id), direction).orderBy('users.id');
      const page = await paginate(db, ordered, input);
      return mapPage(page, ({ rank, is_last_owner, last_sign_in_at, ...user }) => ({
        ...presentUserBasic(url, user),
        email: user.public_email || null,
        last_activity_on: user.last_activity_on,
        membership_type: membershipTypes[rank - 1]!,
        removable: rank <= 2 && !is_last_owner,
        created_at: user.created_at,
        is_last_owner,
        last_login_at: last_sign_in_at,
        membership_state: 'active' as const,
      }));
    },
  }),
  memberships('direct'),
  memberships('invited'),
  del(`${base}/:user_id`, {
    operation: 'deleteBillableMember',
    summary: 'Remove a billable member from a top-level group and everything in it',
    access: sourceFor('group', { ...managers, group: unlessLocked(topLevelOwner) }),
    plan,
    input: which,
    returns: nothing,
    refusals: { 400: [notTopLevelText, lastText], 404: missing },
    handle: ({ change, input: { user_id } }) =>
      change(async (tx, { source, actor }) => {
        const user = billableUsers(tx, source.id, undefined).where('users.id', '=', user_id);
        if (found('User', await user.executeTakeFirst()).is_last_owner) throw badRequest(lastText);
        await removeEverywhere(tx, { group_id: source.id }, actor, user_id);
      }),
  }),
];
