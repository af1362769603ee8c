/** The map of the API: every area and its endpoints. */
import type { AnyEndpoint } from '../http/index.ts';
import { todoRoutes } from './activity/todos/routes.ts';
import { commitStatuses } from './code/commit_statuses/routes.ts';
import { protectedBranchRoutes } from './code/protected_branches/routes.ts';
import { protectedTagRoutes } from './code/protected_tags/routes.ts';
import { archiveRoutes } from './code/repository/archive_routes.ts';
import { blobRoutes } from './code/repository/blob_routes.ts';
import { branchRoutes } from './code/repository/branch_routes.ts';
import { commitDetailRoutes } from './code/repository/commit_detail_routes.ts';
import { commitRoutes } from './code/repository/commit_routes.ts';
import { commitWriteRoutes } from './code/repository/commit_write_routes.ts';
import { compareRoutes } from './code/repository/compare_routes.ts';
import { languageRoutes } from './code/repository/language_routes.ts';
import { tagRoutes } from './code/repository/tag_routes.ts';
import { treeRoutes } from './code/repository/tree_routes.ts';
import { repositoryFiles } from './code/repository_files/routes.ts';
import { awardEmojiRoutes } from './conversation/award_emoji/routes.ts';
import { discussionRoutes } from './conversation/discussions/routes.ts';
import { markdownRoutes } from './conversation/markdown/routes.ts';
import { noteRoutes } from './conversation/notes/routes.ts';
import { resourceEventRoutes } from './conversation/resource_events/routes.ts';
import { clusterRoutes } from './deployments/clusters/routes.ts';
import { freezePeriods } from './deployments/freeze_periods/routes.ts';
import { applicationSettingRoutes } from './instance/application_settings/routes.ts';
import { experimentRoutes } from './instance/experiments/routes.ts';
import { featureRoutes } from './instance/features/routes.ts';
import { licenseRoutes } from './instance/licenses/routes.ts';
import { metadataRoutes } from './instance/metadata/routes.ts';
import { emailRoutes } from './people/emails/routes.ts';
import { gpgKeyRoutes } from './people/gpg_keys/routes.ts';
import { keyRoutes } from './people/keys/routes.ts';
import { namespaceRoutes } from './people/namespaces/routes.ts';
import { impersonationTokenRoutes } from './people/personal_access_tokens/impersonation_routes.ts';
import { personalAccessTokenRoutes } from './people/personal_access_tokens/routes.ts';
import { userFollowRoutes } from './people/users/follow_routes.ts';
import { userMembershipRoutes } from './people/users/membership_routes.ts';
import { userModerationRoutes } from './people/users/moderation_routes.ts';
import { userPreferenceRoutes } from './people/users/preference_routes.ts';
import { userRemovalRoutes } from './people/users/removal_routes.ts';
import { userRoutes } from './people/users/routes.ts';
import { userStatusRoutes } from './people/users/status_routes.ts';
import { iterationCadenceRoutes } from './planning/iterations/cadence_routes.ts';
import { iterationRoutes } from './planning/iterations/routes.ts';
import { labelRoutes } from './planning/labels/routes.ts';
import { milestoneRoutes } from './planning/milestones/routes.ts';
import { accessRequestRoutes } from './spaces/access_requests/routes.ts';
import { tokenAssociationRoutes } from './spaces/access_tokens/association_routes.ts';
import { accessTokenRoutes } from './spaces/access_tokens/routes.ts';
import { groupLinkRoutes } from './spaces/group_links/routes.ts';
import { groupLifecycleRoutes } from './spaces/groups/lifecycle_routes.ts';
import { groupRoutes } from './spaces/groups/routes.ts';
import { invitationRoutes } from './spaces/invitations/routes.ts';
import { memberRoleRoutes } from './spaces/member_roles/routes.ts';
import { memberApprovalRoutes } from './spaces/members/approval_routes.ts';
import { memberRoutes } from './spaces/members/routes.ts';
import { projectForkRoutes } from './spaces/projects/fork_routes.ts';
import { projectLifecycleRoutes } from './spaces/projects/lifecycle_routes.ts';
import { projectRoutes } from './spaces/projects/routes.ts';
import { projectStarRoutes } from './spaces/projects/star_routes.ts';
import { groupServiceAccountRoutes } from './spaces/service_accounts/group_routes.ts';
import { serviceAccountRoutes } from './spaces/service_accounts/routes.ts';
import { serviceAccountTokenRoutes } from './spaces/service_accounts/token_routes.ts';
import { epicChildRoutes } from './work/epics/child_routes.ts';
import { epicLinkRoutes } from './work/epics/link_routes.ts';
import { epicPeopleRoutes } from './work/epics/people_routes.ts';
import { epicRoutes } from './work/epics/routes.ts';
import { epicIssueRoutes } from './work/issues/epic_routes.ts';
import { issueLinkRoutes } from './work/issues/link_routes.ts';
import { issueListRoutes } from './work/issues/list_routes.ts';
import { issueMetricImageRoutes } from './work/issues/metric_image_routes.ts';
import { milestoneIssueRoutes } from './work/issues/milestone_routes.ts';
import { issuePeopleRoutes } from './work/issues/people_routes.ts';
import { issuePlaceRoutes } from './work/issues/place_routes.ts';
import { issueRoutes } from './work/issues/routes.ts';
import { issueTimeRoutes } from './work/issues/time_routes.ts';

export const endpoints: readonly AnyEndpoint[] = [
  ...metadataRoutes,
  ...markdownRoutes,
  ...userRoutes,
  ...userStatusRoutes,
  ...userModerationRoutes,
  ...userMembershipRoutes,
  ...userRemovalRoutes,
  ...userFollowRoutes,
  ...userPreferenceRoutes,
  ...emailRoutes,
  ...keyRoutes,
  ...gpgKeyRoutes,
  ...tokenAssociationRoutes,
  ...personalAccessTokenRoutes,
  ...impersonationTokenRoutes,
  ...accessTokenRoutes,
  ...serviceAccountRoutes,
  ...groupServiceAccountRoutes,
  ...serviceAccountTokenRoutes,
  ...applicationSettingRoutes,
  ...clusterRoutes,
  ...experimentRoutes,
  ...licenseRoutes,
  ...featureRoutes,
  ...freezePeriods,
  ...namespaceRoutes,
  ...groupRoutes,
  ...groupLifecycleRoutes,
  ...projectRoutes,
  ...projectLifecycleRoutes,
  ...projectStarRoutes,
  ...projectForkRoutes,
  ...issueListRoutes,
  ...issueRoutes,
  ...todoRoutes,
  ...issuePlaceRoutes,
  ...issuePeopleRoutes,
  ...issueTimeRoutes,
  ...issueMetricImageRoutes,
  ...issueLinkRoutes,
  ...memberRoutes,
  ...memberApprovalRoutes,
  ...invitationRoutes,
  ...memberRoleRoutes,
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
  ...protectedTagRoutes,
  ...languageRoutes,
  ...repositoryFiles,
  ...labelRoutes,
  ...milestoneRoutes,
  ...milestoneIssueRoutes,
  ...iterationRoutes,
  ...iterationCadenceRoutes,
  ...resourceEventRoutes,
  ...noteRoutes,
  ...discussionRoutes,
  ...epicRoutes,
  ...epicChildRoutes,
  ...epicPeopleRoutes,
  ...epicLinkRoutes,
  ...epicIssueRoutes,
  ...awardEmojiRoutes,
];
