/** The map of the API: every area and its endpoints. */
import type { AnyEndpoint } from '../http/index.ts';
import { accessRequestRoutes } from './access_requests/routes.ts';
import { accessTokenRoutes } from './access_tokens/routes.ts';
import { applicationSettingRoutes } from './application_settings/routes.ts';
import { commitStatuses } from './commit_statuses/routes.ts';
import { freezePeriods } from './freeze_periods/routes.ts';
import { groupLinkRoutes } from './group_links/routes.ts';
import { groupLifecycleRoutes } from './groups/lifecycle_routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { metadataRoutes } from './metadata/routes.ts';
import { namespaceRoutes } from './namespaces/routes.ts';
import { impersonationTokenRoutes } from './personal_access_tokens/impersonation_routes.ts';
import { personalAccessTokenRoutes } from './personal_access_tokens/routes.ts';
import { projectForkRoutes } from './projects/fork_routes.ts';
import { projectLifecycleRoutes } from './projects/lifecycle_routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { projectStarRoutes } from './projects/star_routes.ts';
import { protectedBranchRoutes } from './protected_branches/routes.ts';
import { archiveRoutes } from './repository/archive_routes.ts';
import { blobRoutes } from './repository/blob_routes.ts';
import { branchRoutes } from './repository/branch_routes.ts';
import { commitDetailRoutes } from './repository/commit_detail_routes.ts';
import { commitRoutes } from './repository/commit_routes.ts';
import { commitWriteRoutes } from './repository/commit_write_routes.ts';
import { compareRoutes } from './repository/compare_routes.ts';
import { tagRoutes } from './repository/tag_routes.ts';
import { treeRoutes } from './repository/tree_routes.ts';
import { repositoryFiles } from './repository_files/routes.ts';
import { userRemovalRoutes } from './user_removal/routes.ts';
import { userMembershipRoutes } from './users/membership_routes.ts';
import { userModerationRoutes } from './users/moderation_routes.ts';
import { userRoutes } from './users/routes.ts';
import { userStatusRoutes } from './users/status_routes.ts';

export const endpoints: readonly AnyEndpoint[] = [
  ...metadataRoutes,
  ...userRoutes,
  ...userStatusRoutes,
  ...userModerationRoutes,
  ...userMembershipRoutes,
  ...userRemovalRoutes,
  ...keyRoutes,
  ...personalAccessTokenRoutes,
  ...impersonationTokenRoutes,
  ...accessTokenRoutes,
  ...applicationSettingRoutes,
  ...freezePeriods,
  ...namespaceRoutes,
  ...groupRoutes,
  ...groupLifecycleRoutes,
  ...projectRoutes,
  ...projectLifecycleRoutes,
  ...projectStarRoutes,
  ...projectForkRoutes,
  ...memberRoutes,
  ...groupLinkRoutes,
  ...accessRequestRoutes,
  ...branchRoutes,
  ...protectedBranchRoutes,
  ...commitRoutes,
  ...commitDetailRoutes,
  ...commitWriteRoutes,
  ...commitStatuses,
  ...treeRoutes,
  ...blobRoutes,
  ...archiveRoutes,
  ...compareRoutes,
  ...tagRoutes,
  ...repositoryFiles,
];
