/** Groups: they contain projects, members and subgroups (docs/reference/groups.md). */
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import {
  anyone,
  forgetRanges,
  type Group,
  groupRole,
  groupVisible,
  type MaybeCaller,
  markedText,
  refuseMarked,
  signedIn,
  visibleGroup,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { editOf } from '../../../fields/index.ts';
import {
  allOptional,
  bytes,
  type Caller,
  checked,
  get,
  Id,
  invalid,
  invalidAs,
  nullable,
  one,
  optional,
  type Page,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { keysetPaging, keysetUnavailable, type Paging, paginate, paginateByKey, paging } from '../../../lists/index.ts';
import {
  defaultVisibility,
  restrictionReasons,
  settingsOf,
  storageForNew,
} from '../../instance/application_settings/index.ts';
import { Avatar, avatarBytes, avatarTexts, avatarTypes, receiveAvatar, setAvatar } from '../../people/avatars/index.ts';
import { attributeForm, showAttributes, withAttributes } from '../../people/custom_attributes/index.ts';
import { createGroup, type GroupChanges, updateGroup } from './actions.ts';
import { checkRanges } from './address_checks.ts';
import { checkMayCreateGroup } from './creation_checks.ts';
import { groupReply, groupReplyWithProjects } from './detail_present.ts';
import { detailFields, groupFields } from './fields.ts';
import { type GroupListInput, groupFilters, groupListInput, orderGroups, searchGroups } from './filters.ts';
import { GroupDetailForm, GroupForm, type GroupRow, presentGroup, statisticsInput, withStatistics } from './present.ts';
import { groupRows, listedGroups } from './queries.ts';
import { projectCreationLevels } from './rules.ts';

/** A restriction that this server does not support: callers who request it must not believe that it is in force. */
const withoutRestriction = (description: string) =>
  checked(Type.Boolean({ description }), (isAsked) => (isAsked ? ['is not available'] : []));

const withoutList = (description: string) =>
  checked(nullable(Type.String({ description })), (listed) => (listed ? ['is not available'] : []));

/** Parameters that are checked and not stored. */
const unavailable = allOptional({
  prevent_sharing_groups_outside_hierarchy: withoutRestriction('Only `false`: groups can be shared with all groups'),
  prevent_forking_outside_group: withoutRestriction('Only `false`: projects can be forked to every namespace'),
  only_allow_merge_if_pipeline_succeeds: withoutRestriction('Only `false`: projects have this rule, not groups'),
  only_allow_merge_if_all_discussions_are_resolved: withoutRestriction(
    'Only `false`: projects have this rule, not groups',
  ),
  lock_duo_features_enabled: withoutRestriction('Only `false`: there is no assistant'),
  enabled_git_access_protocol: checked(
    Type.Enum(['ssh', 'http', 'all'], { description: 'Only `all`: groups do not restrict protocols' }),
    (protocol) => (protocol === 'all' ? [] : ['is not available']),
  ),
  service_access_tokens_expiration_enforced: Type.Boolean({
    description: 'Only what the setting of the same name says: it applies to all groups',
  }),
  allowed_email_domains_list: withoutList('Only empty: groups do not restrict the addresses of members'),
});

/** @throws ApiError 400 if a group requests another rule than the server-wide setting, which is the one in force */
async function checkTokenRule(db: Database, asked: boolean | undefined): Promise<void> {
  if (asked === undefined) return;
  const { service_access_tokens_expiration_enforced: inForce } = await settingsOf(db);
  if (asked !== inForce) throw invalid({ service_access_tokens_expiration_enforced: ['is not available'] });
}

const { wiki_access_level, ...others } = editOf({ ...groupFields, ...detailFields });
/** Parameters of creation and updates. */
const settings = { ...others, wiki_access_level };

/**
 * Converts parameters to columns; `emails_enabled` takes precedence over `emails_disabled`. A new level of default
 * branch protection replaces the detailed settings. Only administrators change a limit of the server.
 */
function columnsFrom(
  caller: Caller,
  {
    emails_disabled,
    default_branch,
    default_branch_protection_defaults: defaults,
    max_artifacts_size,
    ip_restriction_ranges,
    ...given
  }: Static<TObject<typeof settings & typeof unavailable>>,
): GroupChanges {
  const stored = Object.entries(given).filter(([name]) => !(name in unavailable));
  return {
    ...(emails_disabled === undefined ? {} : { emails_enabled: !emails_disabled }),
    ...(default_branch === undefined ? {} : { default_branch: default_branch || null }),
    ...(given.default_branch_protection === undefined ? {} : { default_branch_protection_defaults: null }),
    ...(defaults === undefined ? {} : { default_branch_protection_defaults: JSON.stringify(defaults) }),
    ...(max_artifacts_size === undefined || !caller.admin ? {} : { max_artifacts_size }),
    ...(ip_restriction_ranges === undefined ? {} : { ip_restriction_ranges: ip_restriction_ranges || null }),
    ...Object.fromEntries(stored),
  };
}

const filteredGroups = (db: Database, caller: MaybeCaller, input: GroupListInput) =>
  groupRows(db)
    .where(listedGroups(caller, input))
    .where(groupFilters.matching(input))
    .where(withAttributes('group', caller, input));

const formInput = { ...statisticsInput, ...attributeForm };
const listInput = { ...groupListInput, ...formInput };
type Form = Static<TObject<typeof formInput>>;
type ListInput = GroupListInput & Form;

/** Converts rows to replies, with the requested additional fields. */
const inForm = async <Shown extends { id: number }>(
  services: Services,
  caller: MaybeCaller,
  input: Form,
  groups: readonly Shown[],
) => showAttributes(services.db, 'group', { caller, input }, await withStatistics(services, caller, input, groups));

const presentPage = async (services: Services, caller: MaybeCaller, input: ListInput, page: Page<GroupRow>) => ({
  ...page,
  items: await inForm(
    services,
    caller,
    input,
    page.items.map((row) => presentGroup(services.url, row)),
  ),
});

/** Lists the subgroups or descendants of a group. */
async function groupsInside(
  services: Services,
  caller: MaybeCaller,
  input: ListInput & Paging,
  group: Group,
  deep: boolean,
) {
  const below = deep
    ? sql<boolean>`namespaces.traversal_ids @> ${[group.id]}::bigint[] and namespaces.id <> ${group.id}`
    : sql<boolean>`namespaces.parent_id = ${group.id}`;
  const query = searchGroups(filteredGroups(services.db, caller, input).where(below), input.search, true);
  return presentPage(services, caller, input, await paginate(services.db, orderGroups(query, input), input));
}

export const groupRoutes = [
  get('/groups', {
    operation: 'listGroups',
    summary: 'List groups that the caller belongs to, or all visible groups',
    access: anyone,
    rate: { setting: 'groups_api_limit', window_s: 60 },
    input: { ...keysetPaging, ...listInput },
    returns: pageOf(GroupForm),
    refusals: { 405: 'Keyset pagination is not yet available for this type of request' },
    handle: async ({ caller, input, ...services }) => {
      const { db } = services;
      const { order_by, sort, pagination } = input;
      const query = searchGroups(filteredGroups(db, caller, input), input.search, false);
      if (pagination === 'keyset' && (caller || sort !== 'asc')) throw keysetUnavailable();
      const page =
        pagination === 'keyset'
          ? await paginateByKey(db, query, input, {
              columns: { name: 'namespaces.name' },
              order_by,
              sort,
              id: 'namespaces.id',
            })
          : await paginate(db, orderGroups(query, input), input);
      return presentPage(services, caller, input, page);
    },
  }),
  get('/groups/:id/subgroups', {
    operation: 'listSubgroups',
    summary: 'List direct subgroups of a group',
    access: groupVisible,
    input: { ...paging, ...listInput },
    returns: pageOf(GroupForm),
    handle: ({ caller, group, input, ...services }) => groupsInside(services, caller, input, group, false),
  }),
  get('/groups/:id/descendant_groups', {
    operation: 'listDescendantGroups',
    summary: 'List descendant groups of a group',
    access: groupVisible,
    input: { ...paging, ...listInput },
    returns: pageOf(GroupForm),
    handle: ({ caller, group, input, ...services }) => groupsInside(services, caller, input, group, true),
  }),
  get('/groups/:id', {
    operation: 'getGroup',
    summary: 'Show a group',
    access: groupVisible,
    rate: { setting: 'group_api_limit', window_s: 60 },
    input: {
      with_projects: Type.Boolean({
        default: true,
        description: 'Whether to include `projects` and `shared_projects`',
      }),
      ...formInput,
    },
    returns: one(GroupDetailForm),
    handle: async ({ caller, group, input, ...services }) => {
      const reply = input.with_projects ? groupReplyWithProjects : groupReply;
      const shown = await reply(services, caller, group.id);
      return (await inForm(services, caller, input, [shown]))[0]!;
    },
  }),
  get('/groups/:id/avatar', {
    operation: 'getGroupAvatar',
    summary: 'Download the avatar of a group',
    access: groupVisible,
    returns: bytes(avatarTypes),
    refusals: { 404: '404 Avatar Not Found' },
    handle: ({ group, caller: _caller, ...services }) => avatarBytes(services, 'group', group.id),
  }),
  post('/groups', {
    operation: 'createGroup',
    audits: ['group_created'],
    summary: 'Create a group or subgroup',
    description: 'Groups are nested at most 20 levels deep.',
    access: signedIn,
    input: {
      name: Type.String(),
      path: Type.String(),
      parent_id: optional(Id),
      ...settings,
      ...unavailable,
      avatar: Avatar(),
    },
    returns: one(GroupDetailForm),
    refusals: {
      400: ['Failed to save group {<reasons by parameter>}', '<parameter>: <reason>', ...avatarTexts],
      403: ['403 Forbidden - The group is archived.', '403 Forbidden - The group is marked for deletion.'],
      404: '404 Group Not Found',
    },
    handle: async ({
      db,
      url,
      secrets,
      blobs,
      storages,
      caller,
      sent_from,
      input: { name, path, parent_id, avatar, ...given },
    }) => {
      const parent = parent_id === undefined ? undefined : await visibleGroup(db, caller, String(parent_id));
      await checkMayCreateGroup(db, caller, parent);
      await checkTokenRule(db, given.service_access_tokens_expiration_enforced);
      const settings = await settingsOf(db);
      const { ip_restriction_ranges } = given;
      checkRanges(ip_restriction_ranges, { caller, sent_from, settings, is_top_level: parent === undefined });
      const restricted = await restrictionReasons(db, caller, given.visibility);
      if (restricted.length > 0) throw invalidAs('Failed to save group', { visibility_level: restricted });
      const usual = {
        default_visibility: defaultVisibility(settings, 'group', caller),
        default_branch_protection: settings.default_branch_protection,
        project_creation_level: projectCreationLevels[settings.default_project_creation],
        repository_storage: await storageForNew({ db, storages }),
      };
      const group = { ...usual, ...columnsFrom(caller, given), name, path, parent_id, creator_id: caller.id };
      const received = await receiveAvatar({ db, blobs }, avatar);
      const id = await db.transaction().execute(async (tx) => {
        const created = await createGroup(tx, group);
        await setAvatar(tx, 'namespaces', created, received);
        return created;
      });
      forgetRanges(db);
      return groupReply({ db, url, secrets }, caller, id);
    },
  }),
  put('/groups/:id', {
    operation: 'updateGroup',
    summary: 'Update a group; a new path also changes the paths of everything in it',
    access: groupRole('owner'),
    input: {
      ...allOptional({ name: Type.String(), path: Type.String() }),
      ...settings,
      ...unavailable,
      avatar: Avatar(),
    },
    returns: one(GroupDetailForm),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts, 'Failed to save group {<reasons by parameter>}'],
      403: `403 Forbidden - ${markedText('group')}`,
    },
    handle: async ({
      db,
      url,
      ssh_url,
      secrets,
      blobs,
      caller,
      group,
      sent_from,
      input: { name, path, avatar, ...given },
    }) => {
      refuseMarked('group', group);
      const { ip_restriction_ranges } = given;
      const settings = await settingsOf(db);
      checkRanges(ip_restriction_ranges, { caller, sent_from, settings, is_top_level: group.parent_id === null });
      await checkTokenRule(db, given.service_access_tokens_expiration_enforced);
      const restricted =
        given.visibility === group.visibility ? [] : await restrictionReasons(db, caller, given.visibility);
      if (restricted.length > 0) throw invalid({ visibility_level: restricted });
      const changes = {
        ...columnsFrom(caller, given),
        ...(name === undefined ? {} : { name }),
        ...(path === undefined ? {} : { path }),
      };
      const received = await receiveAvatar({ db, blobs }, avatar);
      await db.transaction().execute(async (tx) => {
        await updateGroup(tx, group.id, changes);
        await setAvatar(tx, 'namespaces', group.id, received);
      });
      forgetRanges(db);
      return groupReplyWithProjects({ db, url, ssh_url, secrets }, caller, group.id);
    },
  }),
];
