/** The maps of settings: their pages in groups, as the navigation beside each of them shows them (docs/reference/pages.md#settings). */
import { inAddress } from '../../../foundation/addresses.ts';
import type { Operation, PageCall } from '../../../pages/index.ts';

/** A page of a map. */
export interface MappedPage {
  label: string;
  /** Its address, below the project or group. */
  address: string;
  /** The operation that callers need to be allowed to run to see the page; all who are signed in see the others. */
  operation?: Operation;
}

interface MappedGroup {
  label: string;
  /** By name. */
  pages: Readonly<Record<string, MappedPage>>;
}

const projectMap = [
  {
    label: 'Project',
    pages: {
      general: { label: 'General', address: '/-/settings/general', operation: 'updateProject' },
      features: { label: 'Visibility and features', address: '/-/settings/features', operation: 'updateProject' },
      badges: { label: 'Badges', address: '/-/settings/badges', operation: 'createProjectBadge' },
      uploads: { label: 'Uploaded files', address: '/-/uploads', operation: 'listProjectUploads' },
      compliance: {
        label: 'Compliance frameworks',
        address: '/-/settings/compliance',
        operation: 'setProjectComplianceFrameworks',
      },
      audit_events: { label: 'Audit events', address: '/-/audit_events', operation: 'getProjectAuditEvent' },
    },
  },
  {
    label: 'Code',
    pages: {
      branches: {
        label: 'Protected branches',
        address: '/-/settings/protected_branches',
        operation: 'createProtectedBranch',
      },
      tags: { label: 'Protected tags', address: '/-/settings/protected_tags', operation: 'createProtectedTag' },
      push_rules: { label: 'Push rules', address: '/-/settings/push_rules', operation: 'updateProjectPushRule' },
      merge_requests: {
        label: 'Merge requests',
        address: '/-/settings/merge_requests',
        operation: 'updateProject',
      },
      approvals: {
        label: 'Approvals',
        address: '/-/settings/approvals',
        operation: 'updateProjectApprovalSetting',
      },
      security_policies: {
        label: 'Security policies',
        address: '/-/security/policies',
        operation: 'listProjectSecurityPolicies',
      },
      mirrors: { label: 'Mirrors', address: '/-/settings/repository', operation: 'listRemoteMirrors' },
    },
  },
  {
    label: 'Build',
    pages: {
      variables: { label: 'Variables', address: '/-/settings/ci_cd', operation: 'listProjectVariables' },
      runners: { label: 'Runners', address: '/-/runners', operation: 'listProjectRunners' },
      freeze_periods: {
        label: 'Freeze periods',
        address: '/-/settings/freeze_periods',
        operation: 'createFreezePeriod',
      },
      environments: {
        label: 'Protected environments',
        address: '/-/settings/protected_environments',
        operation: 'createProtectedEnvironment',
      },
      deploy_keys: { label: 'Deploy keys', address: '/-/settings/deploy_keys', operation: 'createProjectDeployKey' },
      deploy_tokens: {
        label: 'Deploy tokens',
        address: '/-/settings/deploy_tokens',
        operation: 'listProjectDeployTokens',
      },
    },
  },
  {
    label: 'Watch',
    pages: {
      error_tracking: {
        label: 'Error tracking',
        address: '/-/settings/operations',
        operation: 'setErrorTrackingSettings',
      },
    },
  },
  {
    label: 'Connect',
    pages: {
      hooks: { label: 'Webhooks', address: '/-/hooks', operation: 'listProjectHooks' },
      access_tokens: {
        label: 'Access tokens',
        address: '/-/settings/access_tokens',
        operation: 'listProjectAccessTokens',
      },
    },
  },
  {
    label: 'Careful',
    pages: {
      careful: { label: 'Transfer, archive, delete', address: '/-/settings/careful', operation: 'archiveProject' },
    },
  },
] as const satisfies readonly MappedGroup[];

const groupMap = [
  {
    label: 'Group',
    pages: {
      general: { label: 'General', address: '/-/edit', operation: 'updateGroup' },
      features: { label: 'Permissions and features', address: '/-/settings/features', operation: 'updateGroup' },
      member_roles: {
        label: 'Member roles',
        address: '/-/settings/roles_and_permissions',
        operation: 'createGroupMemberRole',
      },
      compliance: {
        label: 'Compliance frameworks',
        address: '/-/settings/compliance',
        operation: 'createComplianceFramework',
      },
      provider_links: {
        label: 'Links with providers',
        address: '/-/settings/group_links',
        operation: 'createSamlGroupLink',
      },
      seats: { label: 'Seats', address: '/-/settings/seats', operation: 'listBillableMembers' },
      badges: { label: 'Badges', address: '/-/settings/badges', operation: 'createGroupBadge' },
      uploads: { label: 'Uploaded files', address: '/-/uploads', operation: 'listGroupUploads' },
      audit_events: { label: 'Audit events', address: '/-/audit_events', operation: 'getGroupAuditEvent' },
      audit_streams: {
        label: 'Streams of audit events',
        address: '/-/audit_events/streams',
        operation: 'createGroupAuditEventStreamingDestination',
      },
      placeholders: {
        label: 'Placeholders',
        address: '/-/settings/placeholders',
        operation: 'listPlaceholdersOfGroup',
      },
    },
  },
  {
    label: 'Code',
    pages: {
      branches: {
        label: 'Protected branches',
        address: '/-/settings/repository',
        operation: 'createGroupProtectedBranch',
      },
      push_rules: { label: 'Push rules', address: '/-/settings/push_rules', operation: 'updateGroupPushRule' },
      approvals: { label: 'Approvals', address: '/-/settings/approvals', operation: 'updateGroupApprovalSetting' },
      security_policies: {
        label: 'Security policies',
        address: '/-/security/policies',
        operation: 'listGroupSecurityPolicies',
      },
    },
  },
  {
    label: 'Build',
    pages: {
      variables: { label: 'Variables', address: '/-/settings/ci_cd', operation: 'listGroupVariables' },
      runners: { label: 'Runners', address: '/-/runners', operation: 'listGroupRunners' },
      environments: {
        label: 'Protected environments',
        address: '/-/settings/protected_environments',
        operation: 'createGroupProtectedEnvironment',
      },
      deploy_tokens: {
        label: 'Deploy tokens',
        address: '/-/settings/deploy_tokens',
        operation: 'listGroupDeployTokens',
      },
    },
  },
  {
    label: 'Connect',
    pages: {
      hooks: { label: 'Webhooks', address: '/-/hooks', operation: 'listGroupHooks' },
      applications: {
        label: 'Applications',
        address: '/-/settings/applications',
        operation: 'listGroupApplications',
      },
      access_tokens: {
        label: 'Access tokens',
        address: '/-/settings/access_tokens',
        operation: 'listGroupAccessTokens',
      },
      service_accounts: {
        label: 'Service accounts',
        address: '/-/settings/service_accounts',
        operation: 'listGroupServiceAccounts',
      },
    },
  },
  {
    label: 'Careful',
    pages: {
      careful: { label: 'Transfer, archive, delete', address: '/-/settings/careful', operation: 'archiveGroup' },
    },
  },
] as const satisfies readonly MappedGroup[];

const ownMap = [
  {
    label: 'You',
    pages: {
      profile: { label: 'Profile', address: '/-/user_settings/profile' },
      emails: { label: 'Addresses', address: '/-/profile/emails' },
      notifications: { label: 'Notifications', address: '/-/profile/notifications' },
      preferences: { label: 'Preferences', address: '/-/profile/preferences' },
    },
  },
  {
    label: 'Access',
    pages: {
      password: { label: 'Password', address: '/-/user_settings/password/edit' },
      two_factor: { label: 'Second factor', address: '/-/user_settings/two_factor' },
      tokens: { label: 'Access tokens', address: '/-/user_settings/personal_access_tokens' },
      applications: { label: 'Applications', address: '/-/user_settings/applications' },
      ssh_keys: { label: 'SSH keys', address: '/-/user_settings/ssh_keys' },
      gpg_keys: { label: 'GPG keys', address: '/-/user_settings/gpg_keys' },
      identities: { label: 'Linked accounts', address: '/-/user_settings/identities' },
      sessions: { label: 'Sessions', address: '/-/user_settings/active_sessions' },
      proposals: { label: 'Work from other servers', address: '/-/user_settings/placeholder_proposals' },
    },
  },
] as const satisfies readonly MappedGroup[];

const adminMap = [
  {
    label: 'Administration',
    pages: {
      overview: { label: 'Overview', address: '/admin', operation: 'getApplicationStatistics' },
    },
  },
  {
    label: 'People and work',
    pages: {
      users: { label: 'Users', address: '/admin/users', operation: 'createUser' },
      groups: { label: 'Groups', address: '/admin/groups', operation: 'createUser' },
      projects: { label: 'Projects', address: '/admin/projects', operation: 'createUser' },
      topics: { label: 'Topics', address: '/admin/topics', operation: 'createTopic' },
      member_roles: {
        label: 'Member roles',
        address: '/admin/application_settings/roles_and_permissions',
        operation: 'createInstanceMemberRole',
      },
      member_approvals: {
        label: 'Roles to approve',
        address: '/admin/role_promotion_requests',
        operation: 'listMemberApprovals',
      },
      service_accounts: {
        label: 'Service accounts',
        address: '/admin/service_accounts',
        operation: 'createServiceAccount',
      },
    },
  },
  {
    label: 'Settings',
    pages: {
      general: {
        label: 'Sign-up and defaults',
        address: '/admin/application_settings/general',
        operation: 'updateApplicationSettings',
      },
      repository: {
        label: 'Content and code',
        address: '/admin/application_settings/repository',
        operation: 'updateApplicationSettings',
      },
      network: {
        label: 'Limits and network',
        address: '/admin/application_settings/network',
        operation: 'updateApplicationSettings',
      },
      plan_limits: {
        label: 'Limits of projects',
        address: '/admin/application_settings/plan_limits',
        operation: 'updatePlanLimits',
      },
      appearance: {
        label: 'Appearance',
        address: '/admin/application_settings/appearance',
        operation: 'updateAppearance',
      },
      messages: { label: 'Messages', address: '/admin/broadcast_messages', operation: 'createBroadcastMessage' },
      features: { label: 'Features', address: '/admin/features', operation: 'listFeatures' },
      variables: { label: 'Variables', address: '/admin/ci/variables', operation: 'createInstanceVariable' },
      runners: { label: 'Runners', address: '/admin/runners', operation: 'listAllRunners' },
    },
  },
  {
    label: 'Connect',
    pages: {
      hooks: { label: 'System hooks', address: '/admin/hooks', operation: 'createSystemHook' },
      applications: { label: 'Applications', address: '/admin/applications', operation: 'listApplications' },
      scim: { label: 'SCIM', address: '/admin/scim', operation: 'createScimToken' },
      deploy_keys: { label: 'Deploy keys', address: '/admin/deploy_keys', operation: 'listDeployKeys' },
      deploy_tokens: { label: 'Deploy tokens', address: '/admin/deploy_tokens', operation: 'listDeployTokens' },
      clusters: { label: 'Clusters', address: '/admin/clusters', operation: 'addInstanceCluster' },
    },
  },
  {
    label: 'Operation',
    pages: {
      license: { label: 'Licence and seats', address: '/admin/license', operation: 'createLicense' },
      audit_logs: { label: 'Audit events', address: '/admin/audit_logs', operation: 'listAuditEvents' },
      audit_streams: {
        label: 'Streams of audit events',
        address: '/admin/audit_logs/streams',
        operation: 'createAuditEventStreamingDestination',
      },
      nodes: { label: 'Servers', address: '/admin/nodes', operation: 'listNodes' },
      jobs: { label: 'Jobs', address: '/admin/background_jobs', operation: 'getQueueMetrics' },
      storage_moves: {
        label: 'Storage and moves',
        address: '/admin/storage_moves',
        operation: 'listProjectStorageMoves',
      },
      migrations: { label: 'Migrations', address: '/import/bulk_imports/history', operation: 'listBulkImports' },
      geo: { label: 'Geo', address: '/admin/geo/sites', operation: 'listGeoSites' },
    },
  },
] as const satisfies readonly MappedGroup[];

const maps = { project: projectMap, group: groupMap, own: ownMap, admin: adminMap } as const;

export type MapName = keyof typeof maps;

type NamesOf<Group> = Group extends { pages: infer Pages } ? keyof Pages & string : never;
/** The names of the pages of a map. */
export type PageName<Name extends MapName> = NamesOf<(typeof maps)[Name][number]>;

/** The path of the pages of a map, with `:id` for projects and groups. */
const starts = { project: '/:id', group: '/groups/:id', own: '', admin: '' } as const;

const groupsOf = (map: MapName): readonly MappedGroup[] => maps[map];

/** All pages of a map, by name. */
const pagesOf = (map: MapName): Readonly<Record<string, MappedPage>> =>
  Object.assign({}, ...groupsOf(map).map(({ pages }) => pages));

/** A page of a map, with the address at which it answers. */
export function mappedPage<Name extends MapName>(map: Name, name: PageName<Name>): MappedPage & { path: string } {
  const found = pagesOf(map)[name]!;
  return { ...found, path: starts[map] + found.address };
}

/** The pages of a map in the section of the project or group that leads to them. */
export const sectionPages = (map: 'project' | 'group') =>
  Object.values(pagesOf(map)).flatMap(({ label, address, operation }) =>
    operation === undefined ? [] : [{ name: 'settings', label, address, operation }],
  );

/** The pages of a map that the caller may see, in their groups, with their addresses. */
export async function mapFor(map: MapName, { may, params: { id } }: PageCall) {
  const start = starts[map].replace(':id', inAddress(id ?? ''));
  const asked = new Map<Operation, Promise<boolean>>();
  const isShown = async ({ operation }: MappedPage) => {
    if (operation === undefined) return true;
    const answer = asked.get(operation) ?? may(operation);
    asked.set(operation, answer);
    return answer;
  };
  const shown = groupsOf(map).map(async ({ label, pages }) => {
    const entries = Object.entries(pages);
    const answers = await Promise.all(entries.map(([, page]) => isShown(page)));
    return {
      label,
      pages: entries
        .filter((_, index) => answers[index])
        .map(([name, page]) => ({ name, label: page.label, path: start + page.address })),
    };
  });
  return (await Promise.all(shown)).filter(({ pages }) => pages.length > 0);
}
