/** Groups: what projects and people are gathered in, one inside another. */
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { anyone, type Group, groupRole, groupVisible, type MaybeCaller, signedIn, visibleGroup } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  type Caller,
  forbidden,
  get,
  Id,
  invalid,
  invalidAs,
  keysetPaging,
  keysetUnavailable,
  nullable,
  one,
  optional,
  type Paging,
  pageOf,
  paginate,
  paginateByKey,
  paging,
  post,
  put,
  type Services,
  since,
  Visibility,
} from '../../../http/index.ts';
import { defaultVisibility, restrictionReasons, settingsOf } from '../../instance/application_settings/index.ts';
import { createGroup, type GroupChanges, updateGroup } from './actions.ts';
import { groupReply, groupReplyWithProjects } from './detail_present.ts';
import { type GroupListInput, groupFilters, groupListInput, orderGroups, searchGroups } from './filters.ts';
import { GroupDetailForm, GroupForm, ProjectCreationLevel, presentGroup, SubgroupCreationLevel } from './present.ts';
import { groupRows, listedGroups } from './queries.ts';
import { mayCreateSubgroup, projectCreationLevels } from './rules.ts';

/** What is given at creation and can be changed later. */
const settings = allOptional({
  description: Type.String(),
  visibility: Visibility,
  share_with_group_lock: Type.Boolean(),
  project_creation_level: ProjectCreationLevel,
  subgroup_creation_level: SubgroupCreationLevel,
  emails_disabled: Type.Boolean({ description: 'Deprecated: the opposite of `emails_enabled`, which wins' }),
  emails_enabled: Type.Boolean(),
  mentions_disabled: nullable(Type.Boolean()),
  lfs_enabled: Type.Boolean(),
  default_branch: nullable(Type.String({ description: 'The first branch of new projects' })),
  default_branch_protection: Type.Enum([0, 1, 2, 3, 4]),
  request_access_enabled: Type.Boolean(),
  membership_lock: since('premium', Type.Boolean({ description: 'Whether nobody can be added to the projects of the group' })),
});

/** Parameters as columns: one of two names for mail decides. */
function columnsFrom({ emails_disabled, default_branch, ...given }: Static<TObject<typeof settings>>): GroupChanges {
  return {
    ...(emails_disabled === undefined ? {} : { emails_enabled: !emails_disabled }),
    ...(default_branch === undefined ? {} : { default_branch: default_branch || null }),
    ...given,
  };
}

const filteredGroups = (db: Database, caller: MaybeCaller, input: GroupListInput) =>
  groupRows(db).where(listedGroups(caller, input)).where(groupFilters.matching(input));

/** The groups below one, as far as the caller may list them. */
async function groupsInside(
  { db, url }: Services,
  caller: MaybeCaller,
  input: GroupListInput & Paging,
  group: Group,
  deep: boolean,
) {
  const below = deep
    ? sql<boolean>`namespaces.traversal_ids @> ${[group.id]}::bigint[] and namespaces.id <> ${group.id}`
    : sql<boolean>`namespaces.parent_id = ${group.id}`;
  const query = searchGroups(filteredGroups(db, caller, input).where(below), input.search, true);
  const page = await paginate(db, orderGroups(query, input), input);
  return { ...page, items: page.items.map((row) => presentGroup(url, row)) };
}

/**
 * Refuses whoever may not add a group there.
 * @throws ApiError 403
 */
export async function checkMayCreate(db: Database, caller: Caller, parent: Group | undefined): Promise<void> {
  if (parent && (parent.archived || parent.marked_for_deletion)) throw forbidden();
  if (caller.admin) return;
  if (parent && !mayCreateSubgroup(parent)) throw forbidden();
  if (parent) return;
  const user = await db.selectFrom('users').select('can_create_group').where('id', '=', caller.id).executeTakeFirstOrThrow();
  if (!user.can_create_group || caller.external) throw forbidden();
}

export const groupRoutes = [
  get('/groups', {
    summary: 'List groups: those that the caller belongs to, or all that he may know of',
    access: anyone,
    rate: { setting: 'groups_api_limit', window_s: 60 },
    input: { ...keysetPaging, ...groupListInput },
    returns: pageOf(GroupForm),
    handle: async ({ db, url, caller, input }) => {
      const { order_by, sort, pagination } = input;
      const query = searchGroups(filteredGroups(db, caller, input), input.search, false);
      if (pagination === 'keyset' && (caller || sort !== 'asc')) throw keysetUnavailable();
      const page =
        pagination === 'keyset'
          ? await paginateByKey(query, input, { columns: { name: 'namespaces.name' }, order_by, sort, id: 'namespaces.id' })
          : await paginate(db, orderGroups(query, input), input);
      return { ...page, items: page.items.map((row) => presentGroup(url, row)) };
    },
  }),
  get('/groups/:id/subgroups', {
    summary: 'List the groups directly inside a group',
    access: groupVisible,
    input: { ...paging, ...groupListInput },
    returns: pageOf(GroupForm),
    handle: ({ caller, group, input, ...services }) => groupsInside(services, caller, input, group, false),
  }),
  get('/groups/:id/descendant_groups', {
    summary: 'List the groups inside a group, at every depth',
    access: groupVisible,
    input: { ...paging, ...groupListInput },
    returns: pageOf(GroupForm),
    handle: ({ caller, group, input, ...services }) => groupsInside(services, caller, input, group, true),
  }),
  get('/groups/:id', {
    summary: 'Show one group',
    access: groupVisible,
    rate: { setting: 'group_api_limit', window_s: 60 },
    input: { with_projects: Type.Boolean({ default: true, description: 'Whether to send its first projects' }) },
    returns: one(GroupDetailForm),
    handle: ({ caller, group, input, ...services }) =>
      input.with_projects ? groupReplyWithProjects(services, caller, group.id) : groupReply(services, caller, group.id),
  }),
  post('/groups', {
    summary: 'Add a group, at the top or inside another',
    access: signedIn,
    input: { name: Type.String(), path: Type.String(), parent_id: optional(Id), ...settings },
    returns: one(GroupDetailForm),
    handle: async ({ db, url, caller, input: { name, path, parent_id, ...given } }) => {
      const parent = parent_id === undefined ? undefined : await visibleGroup(db, caller, String(parent_id));
      await checkMayCreate(db, caller, parent);
      const settings = await settingsOf(db);
      const restricted = await restrictionReasons(db, caller, given.visibility);
      if (restricted.length > 0) throw invalidAs('Failed to save group', { visibility_level: restricted });
      const usual = {
        default_visibility: defaultVisibility(settings, 'group', caller),
        default_branch_protection: settings.default_branch_protection,
        project_creation_level: projectCreationLevels[settings.default_project_creation],
      };
      const group = { ...usual, ...columnsFrom(given), name, path, parent_id, creator_id: caller.id };
      const id = await db.transaction().execute((tx) => createGroup(tx, group));
      return groupReply({ db, url }, caller, id);
    },
  }),
  put('/groups/:id', {
    summary: 'Change a group; a new path moves everything below along',
    access: groupRole('owner'),
    input: { ...allOptional({ name: Type.String(), path: Type.String() }), ...settings },
    returns: one(GroupDetailForm),
    handle: async ({ db, url, caller, group, input: { name, path, ...given } }) => {
      const restricted = given.visibility === group.visibility ? [] : await restrictionReasons(db, caller, given.visibility);
      if (restricted.length > 0) throw invalid({ visibility_level: restricted });
      const changes = { ...columnsFrom(given), ...(name === undefined ? {} : { name }), ...(path === undefined ? {} : { path }) };
      await db.transaction().execute((tx) => updateGroup(tx, group.id, changes));
      return groupReplyWithProjects({ db, url }, caller, group.id);
    },
  }),
];
