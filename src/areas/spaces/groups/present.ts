/** How groups appear in responses. */
import type { Selectable } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { groupPage, type MaybeCaller } from '../../../access/index.ts';
import type { DB } from '../../../db/index.ts';
import { replyOf, shownOf } from '../../../fields/index.ts';
import { nullable, optional, resource, type Services, since } from '../../../http/index.ts';
import { defaultProtection, type ProtectionDefaults } from '../../code/protected_branches/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';
import { attributeMember } from '../../people/custom_attributes/index.ts';
import { SharedWithGroup, type SharedWithGroupRow } from '../../people/namespaces/index.ts';
import { fixed } from '../projects/fixed_present.ts';
import { ProjectForm, unstoredSizes } from '../projects/present.ts';
import { groupStatistics } from '../projects/queries.ts';
import { detailFields, groupFields } from './fields.ts';

const [shown, shownInDetail] = [shownOf(groupFields), shownOf(detailFields)];
const shownToAll = { ...replyOf(groupFields), ...attributeMember };

const [noDiffsInMail, noFormulas, noAssistant, notCounted] = [
  'no mail contains diffs',
  'formulas are not rendered',
  'there is no assistant',
  'the minutes of runners are not counted',
];

/** Fields that clients expect and that never change here (docs/reference/groups.md#fields). */
const fixedFields = {
  auto_devops_enabled: fixed(Type.Null(), 'pipelines are made of configurations alone'),
  show_diff_preview_in_email: fixed(Type.Boolean(), noDiffsInMail),
  math_rendering_limits_enabled: fixed(Type.Boolean(), noFormulas),
  lock_math_rendering_limits_enabled: fixed(Type.Boolean(), noFormulas),
  organization_id: fixed(Type.Integer(), 'there is one organization'),
  duo_features_enabled: since('premium', fixed(Type.Boolean(), noAssistant)),
  lock_duo_features_enabled: since('premium', fixed(Type.Boolean(), noAssistant)),
};

const fixedValues: Static<TObject<typeof fixedFields>> = {
  auto_devops_enabled: null,
  show_diff_preview_in_email: true,
  math_rendering_limits_enabled: true,
  lock_math_rendering_limits_enabled: false,
  organization_id: 1,
  duo_features_enabled: false,
  lock_duo_features_enabled: false,
};

const directoryFields = {
  ldap_cn: since('premium', nullable(Type.String({ description: 'The first linked group of a directory, by its cn' }))),
  ldap_access: since('premium', nullable(Type.Integer({ description: 'The level that this link gives' }))),
};

/** A group in lists. */
export const GroupForm = resource('Group', { ...shownToAll, ...fixedFields, ...directoryFields });

/** A single group. */
export const GroupDetailForm = resource('GroupDetail', {
  ...shownToAll,
  ...fixedFields,
  ...directoryFields,
  prevent_sharing_groups_outside_hierarchy: optional(
    Type.Boolean({ description: 'Of top-level groups. Always false: groups can be shared with all groups' }),
  ),
  enabled_git_access_protocol: optional(
    since(
      'premium',
      Type.Enum(['all'], { description: 'Of top-level groups. Always the same: groups do not restrict protocols' }),
    ),
  ),
  service_access_tokens_expiration_enforced: optional(
    since(
      'premium',
      Type.Boolean({ description: 'Of top-level groups. The setting of the same name, which applies to all groups' }),
    ),
  ),
  prevent_forking_outside_group: since('premium', fixed(Type.Boolean(), 'projects can be forked to every namespace')),
  shared_runners_minutes_limit: since('premium', fixed(Type.Null(), notCounted)),
  extra_shared_runners_minutes_limit: since('premium', fixed(Type.Null(), notCounted)),
  ...replyOf(detailFields),
  repository_storage: since(
    'premium',
    optional(
      Type.String({ description: 'Administrators only: the storage of repositories that the group has itself' }),
    ),
  ),
  runners_token: optional(
    Type.String({ description: 'For Owners: the token with which runners of the group register' }),
  ),
  shared_with_groups: Type.Array(SharedWithGroup, { description: 'Invited groups that are visible to the caller' }),
  projects: optional(
    Type.Array(ProjectForm, { description: 'The 100 newest projects; left out when `with_projects` is false' }),
  ),
  shared_projects: optional(
    Type.Array(ProjectForm, {
      description: 'The 100 newest projects that the group is invited to; left out when `with_projects` is false',
    }),
  ),
});

/** A row of `groupRows`. */
export type GroupRow = Selectable<DB['namespaces']> & {
  full_name: string;
  ldap_cn: string | null;
  ldap_access: number | null;
};

/**
 * @param url the external address of the server
 * @param row a row of `groupRows`
 */
export function presentGroup(url: string, row: GroupRow): Static<typeof GroupForm> {
  return {
    ...shown(row),
    web_url: url + groupPage(row.full_path),
    full_name: row.full_name,
    ldap_cn: row.ldap_cn,
    ldap_access: row.ldap_access,
    emails_disabled: !row.emails_enabled,
    default_branch_protection_defaults: defaultProtection(
      row.default_branch_protection,
      row.default_branch_protection_defaults as Static<typeof ProtectionDefaults> | null,
    ),
    avatar_url: avatarUrl(url, 'group', row),
    marked_for_deletion_on: row.marked_for_deletion_at?.slice(0, 10) ?? null,
    ...fixedValues,
  };
}

export const statisticsInput = {
  statistics: Type.Boolean({
    default: false,
    description: 'Whether to include `statistics`; without effect for all but administrators',
  }),
};

/** Adds the statistics of groups to their responses if requested, for administrators. */
export async function withStatistics<Shown extends { id: number }>(
  services: Pick<Services, 'db' | 'stored_files'>,
  caller: MaybeCaller,
  { statistics }: { statistics: boolean },
  groups: readonly Shown[],
): Promise<(Shown & Pick<Static<typeof GroupForm>, 'statistics'>)[]> {
  if (!statistics || !caller?.admin) return [...groups];
  const sizes = await groupStatistics(
    services,
    groups.map(({ id }) => id),
  );
  return groups.map((group) => ({ ...group, statistics: { ...sizes.get(group.id)!, ...unstoredSizes } }));
}

/** The result of `groupRow`. */
export type GroupDetailRow = GroupRow & {
  shared_with_groups: SharedWithGroupRow[];
  service_access_tokens_expiration_enforced: boolean;
  /** The level of the caller. */
  access_level: number;
};

/**
 * @param url the external address of the server
 * @param row the result of `groupRow`
 */
export const presentGroupDetail = (
  url: string,
  caller: MaybeCaller,
  row: GroupDetailRow,
): Static<typeof GroupDetailForm> => ({
  ...presentGroup(url, row),
  ...shownInDetail(row),
  ...(caller?.admin ? { repository_storage: row.repository_storage } : {}),
  ...(row.parent_id === null
    ? {
        prevent_sharing_groups_outside_hierarchy: false,
        enabled_git_access_protocol: 'all' as const,
        service_access_tokens_expiration_enforced: row.service_access_tokens_expiration_enforced,
      }
    : {}),
  prevent_forking_outside_group: false,
  shared_runners_minutes_limit: null,
  extra_shared_runners_minutes_limit: null,
  shared_with_groups: row.shared_with_groups,
});
