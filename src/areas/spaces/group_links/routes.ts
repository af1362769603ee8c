/** Sharing groups and projects with a group, whose members get access (docs/reference/group_links.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import {
  countsToday,
  type Group,
  GroupLevel,
  groupRole,
  groupVisible,
  isMemberOfGroup,
  isVisibleGroup,
  type MaybeCaller,
  ProjectLevel,
  projectRole,
  projectVisible,
  visibleGroup,
  withChange,
} from '../../../access/index.ts';
import { endReasons } from '../../../cron/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import {
  allOptional,
  badRequest,
  type Caller,
  CommaList,
  checked,
  DateOnly,
  del,
  forbidden,
  get,
  Id,
  notFound,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { PublicGroupDetails, presentPublicGroup, publicGroups } from '../../people/namespaces/index.ts';
import { groupReply } from '../groups/detail_present.ts';
import { groupFilters, groupListInput, orderGroups, searchGroups } from '../groups/filters.ts';
import { GroupDetailForm, GroupForm, type GroupRow, presentGroup } from '../groups/present.ts';
import { groupRows, listedGroups } from '../groups/queries.ts';
import { inviteGroup, type NewGroupLink, uninviteGroup } from './actions.ts';

const ProjectGroupLink = resource('ProjectGroupLink', {
  id: Id,
  project_id: Id,
  group_id: Id,
  group_access: Type.Integer(),
  expires_at: nullable(DateOnly),
});

const invitation = {
  group_id: Id,
  group_access: ProjectLevel({ description: 'Maximum access level for members of the invited group' }),
  expires_at: optional(checked(nullable(DateOnly), endReasons)),
};

/**
 * The requested link.
 * @throws ApiError 404 for a group that is not visible to the caller, 403 for a level above the caller's own
 */
async function linkFrom(
  db: Database,
  caller: Caller,
  own_level: number,
  input: { group_id: number; group_access: number; expires_at?: string | null },
): Promise<NewGroupLink> {
  const { id } = await visibleGroup(db, caller, String(input.group_id));
  if (input.group_access > own_level) throw forbidden();
  return { invited_group_id: id, access_level: input.group_access, expires_at: input.expires_at ?? null };
}

/** Whether an ancestor group of a project prevents sharing. */
async function isSharingLocked(db: Database, namespace_id: number): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
     where place.id = ${namespace_id} and above.share_with_group_lock limit 1`.execute(db);
  return rows.length > 0;
}

const groupOwner = withChange(groupRole('owner'), ({ group }) => ({ group_id: group.id }));
const projectMaintainer = withChange(projectRole('maintainer', { archived: true }), ({ project }) => ({
  project_id: project.id,
}));

const sharing = [
  post('/groups/:id/share', {
    operation: 'shareGroup',
    summary: 'Share a group with another group',
    access: groupOwner,
    input: invitation,
    returns: one(GroupDetailForm),
    refusals: { 404: '404 Group Not Found', 409: 'Shared group has already been taken' },
    handle: async ({ caller, group, change, input, ...services }) => {
      const share = async (tx: Database, here: { caller: Caller; group: Group }) => {
        const link = await linkFrom(tx, here.caller, here.group.access_level, input);
        if (link.invited_group_id === group.id) throw notFound('Group');
        await inviteGroup(tx, { group_id: group.id }, link);
      };
      await change(share, [input.group_id]);
      return groupReply(services, caller, group.id);
    },
  }),
  del('/groups/:id/share/:group_id', {
    operation: 'unshareGroup',
    summary: 'Stop sharing a group with another group',
    access: groupOwner,
    input: { group_id: Id },
    returns: nothing,
    refusals: { 404: '404 Group Link Not Found' },
    handle: ({ change, input }) =>
      change(
        (tx, { group }) => uninviteGroup(tx, { group_id: group.id }, input.group_id, group.access_level),
        [input.group_id],
      ),
  }),
  post('/projects/:id/share', {
    operation: 'shareProject',
    summary: 'Share a project with a group',
    access: projectMaintainer,
    input: invitation,
    returns: one(ProjectGroupLink),
    refusals: {
      400: 'The project sharing with group is disabled',
      404: '404 Group Not Found',
      409: 'Shared group has already been taken',
    },
    handle: ({ change, input }) =>
      change(
        async (tx, { caller, project }) => {
          const link = await linkFrom(tx, caller, project.access_level, input);
          if (await isSharingLocked(tx, project.namespace_id))
            throw badRequest('The project sharing with group is disabled');
          const id = await inviteGroup(tx, { project_id: project.id }, link);
          const { invited_group_id: group_id, access_level: group_access, expires_at } = link;
          return { id, project_id: project.id, group_id, group_access, expires_at };
        },
        [input.group_id],
      ),
  }),
  del('/projects/:id/share/:group_id', {
    operation: 'unshareProject',
    summary: 'Stop sharing a project with a group',
    access: projectMaintainer,
    input: { group_id: Id },
    returns: nothing,
    refusals: { 404: '404 Group Link Not Found' },
    handle: ({ change, input }) =>
      change(
        (tx, { project }) => uninviteGroup(tx, { project_id: project.id }, input.group_id, project.access_level),
        [input.group_id],
      ),
  }),
];

const relations = {
  ...paging,
  relation: optional(CommaList(Type.Enum(['direct', 'inherited']))),
  ...allOptional({ search: Type.String({ description: 'Part of the name or path' }), min_access_level: GroupLevel() }),
};
interface Relations {
  relation?: readonly ('direct' | 'inherited')[];
  search?: string;
  min_access_level?: number;
}

/** Visible invited groups. `direct` is a condition on the links of the target, `inherited` one on those of its ancestors. */
function invitedGroups(
  db: Database,
  caller: MaybeCaller,
  { relation = [], search, min_access_level }: Relations,
  { direct, inherited }: Record<'direct' | 'inherited', ReturnType<typeof sql<boolean>>>,
): SelectQueryBuilder<DB, 'namespaces', GroupRow> {
  const kinds = relation.length > 0 ? relation : (['direct', 'inherited'] as const);
  const where = sql.join(
    kinds.map((kind) => ({ direct, inherited })[kind]),
    sql` or `,
  );
  const rows = groupRows(db)
    .where(isVisibleGroup(caller))
    .where(
      sql<boolean>`namespaces.id in (select invited_group_id from group_links where ${countsToday('group_links')} and (${where}))`,
    )
    .$if(min_access_level !== undefined, (q) => q.where(isMemberOfGroup(caller, min_access_level!)));
  return searchGroups(rows, search || undefined, false)
    .orderBy('namespaces.name')
    .orderBy('namespaces.id');
}

const lists = [
  get('/groups/:id/groups/shared', {
    operation: 'listGroupsSharedWithGroup',
    summary: 'List the groups that are shared with a group',
    access: groupVisible,
    input: { ...paging, ...groupListInput },
    returns: pageOf(GroupForm),
    handle: async ({ db, url, caller, group, input }) => {
      const wish = { ...input, all_available: input.all_available ?? true };
      const rows = groupRows(db)
        .where(listedGroups(caller, wish))
        .where(groupFilters.matching(input))
        .where(
          sql<boolean>`namespaces.id in (select group_id from group_links where invited_group_id = ${group.id} and ${countsToday('group_links')})`,
        );
      const page = await paginate(db, orderGroups(searchGroups(rows, input.search, false), input), input);
      return mapPage(page, (row) => presentGroup(url, row));
    },
  }),
  get('/groups/:id/invited_groups', {
    operation: 'listInvitedGroupsOfGroup',
    summary: 'List the groups that a group or its ancestors are shared with',
    access: groupVisible,
    input: relations,
    returns: pageOf(GroupForm),
    handle: async ({ db, url, caller, group, input }) => {
      const rows = invitedGroups(db, caller, input, {
        direct: sql<boolean>`group_id = ${group.id}`,
        inherited: sql<boolean>`group_id = any(${group.traversal_ids.slice(0, -1)}::bigint[])`,
      });
      const page = await paginate(db, rows, input);
      return mapPage(page, (row) => presentGroup(url, row));
    },
  }),
  get('/projects/:id/invited_groups', {
    operation: 'listInvitedGroupsOfProject',
    summary: 'List the groups that a project or its ancestor groups are shared with',
    access: projectVisible,
    input: relations,
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const rows = invitedGroups(db, caller, input, {
        direct: sql<boolean>`project_id = ${project.id}`,
        inherited: sql<boolean>`group_id = any((select traversal_ids from namespaces place where place.id = ${project.namespace_id})::bigint[])`,
      });
      const page = await paginate(db, rows, input);
      return mapPage(page, (row) => presentPublicGroup(url, row));
    },
  }),
  get('/projects/:id/share_locations', {
    operation: 'listProjectShareLocations',
    summary: 'List the groups that a project can be shared with',
    access: projectRole('maintainer', { archived: true }),
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or full path' })) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const groups = publicGroups(db, input.search)
        .where(isMemberOfGroup(caller, 1))
        .where('id', '<>', project.namespace_id)
        .where(
          sql<boolean>`not exists (select from group_links where project_id = ${project.id} and invited_group_id = namespaces.id and ${countsToday('group_links')})`,
        )
        .orderBy('name')
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return mapPage(page, (row) => presentPublicGroup(url, row));
    },
  }),
];

export const groupLinkRoutes = [...sharing, ...lists];
