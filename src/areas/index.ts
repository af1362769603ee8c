/** The map of the API: every area and its endpoints. */
import { type AnyEndpoint, type DescribedDoor, type Documented, type FiledEndpoint, tagged } from '../http/index.ts';
import type { AreaServices, HookEventKind, Repositories } from '../services/index.ts';
import { auditEventKind, streamingDestinationRoutes } from './activity/audit_event_streaming_destinations/index.ts';
import { contributionDaysRoute, eventRoutes } from './activity/events/index.ts';
import { hookRoutes } from './activity/hooks/index.ts';
import { notificationSettingRoutes } from './activity/notification_settings/index.ts';
import { mailTarget } from './activity/notifications/index.ts';
import { todoForm, todoRoutes } from './activity/todos/index.ts';
import { artifactDoors } from './ci/artifacts/index.ts';
import { artifactRoutes } from './ci/artifacts/routes.ts';
import { testReportRoutes } from './ci/artifacts/test_report_routes.ts';
import { lintRoutes } from './ci/configuration/routes.ts';
import { jobDoors, jobTokenRoutes } from './ci/jobs/index.ts';
import { jobLogFiles, logRoutes } from './ci/logs/index.ts';
import { resourceGroupRoutes } from './ci/resource_groups/routes.ts';
import { runnerDoors } from './ci/runners/index.ts';
import { runnerJobRoutes } from './ci/runners/job_routes.ts';
import { placeRunnerRoutes } from './ci/runners/place_routes.ts';
import { runnerRoutes } from './ci/runners/routes.ts';
import { pipelineFollower } from './ci/running/index.ts';
import { runningRoutes } from './ci/running/routes.ts';
import { scheduleRoutes } from './ci/schedules/routes.ts';
import { scheduleVariableRoutes } from './ci/schedules/variable_routes.ts';
import { secureFileRoutes, secureFiles } from './ci/secure_files/index.ts';
import { terraformStateDoors, terraformStateFiles, terraformStateRoutes } from './ci/terraform_states/index.ts';
import { triggerDoors } from './ci/triggers/index.ts';
import { triggerRoutes } from './ci/triggers/routes.ts';
import { indexFollower } from './code/code_search/index.ts';
import { commitStatuses } from './code/commit_statuses/routes.ts';
import { complianceFrameworkRoutes } from './code/compliance_frameworks/routes.ts';
import { dependencyDocumentRoutes } from './code/dependencies/document_routes.ts';
import { dependencyExportRoutes } from './code/dependencies/export_routes.ts';
import { dependencyExportFiles, dependencyFollower } from './code/dependencies/index.ts';
import { dependencyRoutes } from './code/dependencies/routes.ts';
import { jobArtifactFiles, jobsById } from './code/jobs/index.ts';
import { jobRoutes } from './code/jobs/routes.ts';
import { lfsFiles } from './code/lfs/index.ts';
import { mirrorFollower } from './code/mirrors/index.ts';
import { pullMirrorRoutes } from './code/mirrors/pull_routes.ts';
import { remoteMirrorRoutes } from './code/mirrors/routes.ts';
import {
  emptyPipelines,
  jobEvent,
  pipelineEvent,
  pipelineMail,
  sampleJob,
  samplePipeline,
} from './code/pipelines/index.ts';
import { pipelineRoutes } from './code/pipelines/routes.ts';
import { groupProtectedBranchRoutes, protectedBranchRoutes } from './code/protected_branches/routes.ts';
import { protectedTagRoutes } from './code/protected_tags/routes.ts';
import { pushRuleCheckRoutes } from './code/push_rules/check_routes.ts';
import { pushRuleRoutes } from './code/push_rules/routes.ts';
import { branchRoutes } from './code/repository/branches/routes.ts';
import { compareRoutes } from './code/repository/commits/compare_routes.ts';
import { commitDetailRoutes } from './code/repository/commits/detail_routes.ts';
import { commitRoutes } from './code/repository/commits/routes.ts';
import { submoduleRoutes } from './code/repository/commits/submodule_routes.ts';
import { commitTextRoute } from './code/repository/commits/text_routes.ts';
import { commitWriteRoutes } from './code/repository/commits/write_routes.ts';
import { fetchStatisticRoutes } from './code/repository/fetches/routes.ts';
import {
  eventFollower,
  type GitKind,
  hookFollower,
  maintenanceFollower,
  projectRepositories,
  pushEvent,
  readmeFollower,
  repositoryUpdateEvent,
  samplePush,
  sampleTag,
  sizeFollower,
} from './code/repository/index.ts';
import { tagRoutes } from './code/repository/tags/routes.ts';
import { archiveRoutes } from './code/repository/trees/archive_routes.ts';
import { blobRoutes } from './code/repository/trees/blob_routes.ts';
import { languageRoutes } from './code/repository/trees/language_routes.ts';
import { lastCommitRoute } from './code/repository/trees/last_commit_routes.ts';
import { repositoryNameRoutes } from './code/repository/trees/name_routes.ts';
import { treeRoutes } from './code/repository/trees/routes.ts';
import { repositoryFiles } from './code/repository_files/routes.ts';
import { policyFollower } from './code/security_policies/index.ts';
import { securityPolicyRoutes } from './code/security_policies/routes.ts';
import { snapshotRoutes } from './code/snapshots/routes.ts';
import { snippetNoun, snippetRepositories } from './code/snippets/index.ts';
import { snippetRoutes } from './code/snippets/routes.ts';
import { templateRoutes } from './code/templates/index.ts';
import { sampleVulnerability, vulnerabilityEvent, vulnerabilityMail } from './code/vulnerabilities/index.ts';
import { vulnerabilityRoutes } from './code/vulnerabilities/routes.ts';
import { wikiAttachmentRoutes } from './code/wikis/attachment_routes.ts';
import { wikiHistoryRoutes } from './code/wikis/history_routes.ts';
import {
  eventWikiPages,
  sampleWikiPage,
  wikiPageEvent,
  wikiRepositories,
  wikiUpdateEvent,
} from './code/wikis/index.ts';
import { wikiRoutes } from './code/wikis/routes.ts';
import { type Awarded, awardEmojiRoutes, awardEvent, sampleAward } from './conversation/award_emoji/index.ts';
import { commitNoun } from './conversation/commit_comments/index.ts';
import { commitCommentRoutes } from './conversation/commit_comments/routes.ts';
import { discussionRoutes, shownDiscussions } from './conversation/discussions/routes.ts';
import { wikiPageHtml } from './conversation/markdown/index.ts';
import { markdownRoutes } from './conversation/markdown/routes.ts';
import {
  commentMail,
  type Discussable,
  eventComments,
  noteEvent,
  noteRoutes,
  sampleNote,
  todoComments,
} from './conversation/notes/index.ts';
import { resourceEventRoutes } from './conversation/resource_events/index.ts';
import { uploadedFiles } from './conversation/uploads/index.ts';
import { uploadRoutes } from './conversation/uploads/routes.ts';
import { clusterRoutes } from './deployments/clusters/routes.ts';
import { keyLookupRoutes } from './deployments/deploy_keys/lookup_routes.ts';
import { deployKeyRoutes } from './deployments/deploy_keys/routes.ts';
import { deployTokenRoutes } from './deployments/deploy_tokens/routes.ts';
import { deploymentRoutes } from './deployments/environments/deployment_routes.ts';
import { deploymentEvent, emptyEnvironments, sampleDeployment } from './deployments/environments/index.ts';
import { environmentRoutes } from './deployments/environments/routes.ts';
import { featureFlagRoutes } from './deployments/feature_flags/flag_routes.ts';
import {
  emptyFeatureFlags,
  featureFlagEvent,
  sampleFeatureFlag,
  unleashDoors,
} from './deployments/feature_flags/index.ts';
import { featureFlagListRoutes } from './deployments/feature_flags/list_routes.ts';
import { freezePeriods } from './deployments/freeze_periods/routes.ts';
import { protectedEnvironmentRoutes } from './deployments/protected_environments/routes.ts';
import { variableRoutes } from './deployments/variables/routes.ts';
import { followedRoute, slotRoute } from './geo/following/index.ts';
import { takeStatus } from './geo/geo_nodes/index.ts';
import { geoNodeRoutes } from './geo/geo_nodes/routes.ts';
import { geoNodeStatusRoutes } from './geo/geo_nodes/status/routes.ts';
import { type AnyGeoRoute, handshakeRoute, statusRoute } from './geo/link/index.ts';
import { replicaRoutes } from './geo/replicas/index.ts';
import { positionRoute } from './geo/serving/index.ts';
import { pictureFiles } from './instance/appearance/index.ts';
import { appearanceRoutes } from './instance/appearance/routes.ts';
import { applicationSettingRoutes } from './instance/application_settings/routes.ts';
import { auditEventRoutes } from './instance/audit_events/routes.ts';
import { broadcastFollower } from './instance/broadcast_messages/index.ts';
import { broadcastMessageRoutes } from './instance/broadcast_messages/routes.ts';
import { experimentRoutes } from './instance/experiments/routes.ts';
import { featureRoutes } from './instance/features/routes.ts';
import { licenseRoutes } from './instance/licenses/routes.ts';
import { metadataRoutes } from './instance/metadata/routes.ts';
import { nodeRoutes } from './instance/nodes/routes.ts';
import { proxiedPictureFiles } from './instance/pictures/index.ts';
import { planLimitRoutes } from './instance/plan_limits/routes.ts';
import { jobFailureRoutes } from './instance/sidekiq/failure_routes.ts';
import { sidekiqRoutes } from './instance/sidekiq/routes.ts';
import { bulkImportRoutes } from './migration/bulk_imports/routes.ts';
import { relationExportFiles } from './migration/export_relations/index.ts';
import { relationExportRoutes } from './migration/export_relations/routes.ts';
import { proposalRoutes } from './migration/placeholders/proposal_routes.ts';
import { placeholderRoutes } from './migration/placeholders/routes.ts';
import { ownedApplicationRoutes } from './people/applications/page_routes.ts';
import { applicationRoutes } from './people/applications/routes.ts';
import { avatarFiles } from './people/avatars/index.ts';
import { customAttributeRoutes } from './people/custom_attributes/routes.ts';
import { emailRoutes } from './people/emails/routes.ts';
import { gpgKeyRoutes } from './people/gpg_keys/routes.ts';
import { keyEvent } from './people/keys/hook_actions.ts';
import { keyRoutes } from './people/keys/routes.ts';
import { groupEvent, projectEvent } from './people/namespaces/hook_actions.ts';
import { namespaceRoutes } from './people/namespaces/routes.ts';
import { authorizedApplicationRoutes } from './people/oauth_grants/routes.ts';
import { impersonationTokenRoutes } from './people/personal_access_tokens/impersonation_routes.ts';
import { personalAccessTokenRoutes } from './people/personal_access_tokens/routes.ts';
import { askDirectories } from './people/providers/index.ts';
import { scimTokenRoutes } from './people/scim/routes.ts';
import { secondFactorRoutes } from './people/second_factors/routes.ts';
import { signInLinkRoute } from './people/sessions/link_routes.ts';
import { userFollowRoutes } from './people/users/follow_routes.ts';
import { userEvent } from './people/users/hook_actions.ts';
import { userMembershipRoutes } from './people/users/membership_routes.ts';
import { userModerationRoutes } from './people/users/moderation_routes.ts';
import { ownPageRoutes } from './people/users/own_routes.ts';
import { userPreferenceRoutes } from './people/users/preference_routes.ts';
import { userRemovalRoutes } from './people/users/removal_routes.ts';
import { userRoutes } from './people/users/routes.ts';
import { userStatusRoutes } from './people/users/status_routes.ts';
import { iterationCadenceRoutes } from './planning/iterations/cadence_routes.ts';
import { iterationRoutes } from './planning/iterations/routes.ts';
import { labelRoutes } from './planning/labels/routes.ts';
import { eventMilestones, milestoneEvent, sampleMilestone } from './planning/milestones/index.ts';
import { milestoneRoutes } from './planning/milestones/routes.ts';
import { accessRequestRoutes } from './spaces/access_requests/routes.ts';
import { tokenAssociationRoutes } from './spaces/access_tokens/association_routes.ts';
import { accessTokenEvent, sampleToken } from './spaces/access_tokens/index.ts';
import { accessTokenRoutes } from './spaces/access_tokens/routes.ts';
import { badgeRoutes } from './spaces/badges/routes.ts';
import { billableMemberRoutes } from './spaces/billable_members/routes.ts';
import { groupLinkRoutes } from './spaces/group_links/routes.ts';
import { groupLifecycleRoutes } from './spaces/groups/lifecycle_routes.ts';
import { groupRoutes } from './spaces/groups/routes.ts';
import { invitationRoutes } from './spaces/invitations/routes.ts';
import { jobTokenScopeRoutes } from './spaces/job_token_scope/routes.ts';
import { memberRoleRoutes } from './spaces/member_roles/routes.ts';
import { memberApprovalRoutes } from './spaces/members/approval_routes.ts';
import { memberEvent } from './spaces/members/hook_actions.ts';
import { memberRoutes } from './spaces/members/routes.ts';
import { projectForkRoutes } from './spaces/projects/fork_routes.ts';
import { projectImportRoutes } from './spaces/projects/import_routes.ts';
import { projectMail } from './spaces/projects/index.ts';
import { projectLifecycleRoutes } from './spaces/projects/lifecycle_routes.ts';
import { projectRoutes } from './spaces/projects/routes.ts';
import { projectStarRoutes } from './spaces/projects/star_routes.ts';
import { followGroups } from './spaces/provider_links/index.ts';
import { ldapGroupLinkRoutes } from './spaces/provider_links/ldap_routes.ts';
import { samlGroupLinkRoutes } from './spaces/provider_links/saml_routes.ts';
import { groupServiceAccountRoutes } from './spaces/service_accounts/group_routes.ts';
import { serviceAccountRoutes } from './spaces/service_accounts/routes.ts';
import { serviceAccountTokenRoutes } from './spaces/service_accounts/token_routes.ts';
import { storageMoveRoutes } from './spaces/storage_moves/routes.ts';
import { topicRoutes } from './spaces/topics/routes.ts';
import { boardIssueRoutes } from './work/boards/issue_routes.ts';
import { boardListRoutes } from './work/boards/list_routes.ts';
import { boardRoutes } from './work/boards/routes.ts';
import { changelogRoutes } from './work/changelogs/routes.ts';
import { custodyRoutes } from './work/compliance/custody_routes.ts';
import { complianceStatusRoutes } from './work/compliance/routes.ts';
import { complianceViolationRoutes } from './work/compliance/violation_routes.ts';
import { epicChildRoutes } from './work/epics/child_routes.ts';
import { epicNoun } from './work/epics/index.ts';
import { epicLinkRoutes } from './work/epics/link_routes.ts';
import { epicRoutes } from './work/epics/routes.ts';
import { clientKeyRoutes } from './work/error_tracking/client_keys/routes.ts';
import { collectorDoors } from './work/error_tracking/collector/http.ts';
import { errorChangeRoutes } from './work/error_tracking/errors/change_routes.ts';
import { errorRoutes } from './work/error_tracking/errors/routes.ts';
import { errorEventRoutes } from './work/error_tracking/events/routes.ts';
import {
  chunkFiles,
  emptyErrors,
  errorEvent,
  errorMail,
  eventErrors,
  sampleError,
  sourceMapFiles,
} from './work/error_tracking/index.ts';
import { releaseHealthRoutes } from './work/error_tracking/releases_health/routes.ts';
import { sentryDoors } from './work/error_tracking/sentry/parameters.ts';
import { errorTrackingSettingRoutes } from './work/error_tracking/settings/routes.ts';
import {
  issueEvent,
  issueHook,
  mergeRequestEvent,
  mergeRequestHook,
  peopleRoutes,
  sampleIssue,
  sampleMergeRequest,
  timeRoutes,
} from './work/issuables/index.ts';
import { burndownRoutes } from './work/issues/burndown/routes.ts';
import { epicIssueRoutes } from './work/issues/epics/routes.ts';
import { issueFields, issueNoun, metricImageFiles } from './work/issues/index.ts';
import { issueLinkRoutes } from './work/issues/links/routes.ts';
import { milestoneIssueRoutes } from './work/issues/lists/milestone_routes.ts';
import { issueListRoutes } from './work/issues/lists/routes.ts';
import { issueMetricImageRoutes } from './work/issues/metric_images/routes.ts';
import { issueMoveRoutes } from './work/issues/moving/routes.ts';
import { issueOriginRoutes } from './work/issues/origin_routes.ts';
import { issueRoutes } from './work/issues/routes.ts';
import { approvalLevelRoutes } from './work/merge_requests/approvals/level_routes.ts';
import { approvalRoutes } from './work/merge_requests/approvals/routes.ts';
import { approvalRuleRoutes } from './work/merge_requests/approvals/rule_routes.ts';
import { approvalSettingRoutes } from './work/merge_requests/approvals/setting_routes.ts';
import { mergeRequestBlockRoutes } from './work/merge_requests/blocks/routes.ts';
import { issueMergeRequestRoutes, mergeRequestIssueRoutes } from './work/merge_requests/closing/issue_routes.ts';
import { mergeRequestConflictRoutes } from './work/merge_requests/conflicts/routes.ts';
import { deploymentMergeRequestRoutes } from './work/merge_requests/deploying/routes.ts';
import { mergeRequestFields, mergeRequestFollower } from './work/merge_requests/index.ts';
import { mergeRequestListRoutes, milestoneMergeRequestRoutes } from './work/merge_requests/lists/routes.ts';
import { mergeRequestMergeRoutes } from './work/merge_requests/merging/routes.ts';
import { mergeRequestNoun } from './work/merge_requests/noteable.ts';
import { draftNoteRoutes } from './work/merge_requests/reviews/draft_note_routes.ts';
import { reviewerRoutes } from './work/merge_requests/reviews/reviewer_routes.ts';
import { suggestionRoutes } from './work/merge_requests/reviews/suggestion_routes.ts';
import { mergeRequestRoutes } from './work/merge_requests/routes.ts';
import { mergeRequestCommitRoutes } from './work/merge_requests/versions/commit_routes.ts';
import { mergeRequestContentRoutes } from './work/merge_requests/versions/content_routes.ts';
import { groupReleaseRoutes } from './work/releases/group_routes.ts';
import { releaseEvent, releaseFollower, releaseMail, releasesOfTags, sampleRelease } from './work/releases/index.ts';
import { releaseLinkRoutes } from './work/releases/link_routes.ts';
import { releaseEvidenceRoute } from './work/releases/page_routes.ts';
import { releaseRoutes } from './work/releases/routes.ts';
import { savedViewRoutes } from './work/saved_views/routes.ts';
import { codeIndexRoutes } from './work/search/index_routes.ts';
import { searchRoutes } from './work/search/routes.ts';
import { statisticRoutes } from './work/statistics/routes.ts';
import { userCountRoutes } from './work/user_counts/routes.ts';

/** What is discussed, reacted to and put on to-do lists. */
const issuables = [issueNoun, epicNoun, mergeRequestNoun];

/** What has comments and takes reactions. */
const commented: readonly (Discussable & Awarded)[] = [...issuables, snippetNoun];

/** What has threads of comments. */
const discussed: readonly Discussable[] = [...commented, commitNoun];

/** What can be on a to-do list, besides access requests. */
const todoTargets = { issuables, commits: commitNoun, comments: todoComments };
/** The form of to-do items. */
export const Todo = todoForm(todoTargets);

/** What has repositories. Projects take all paths that are of no other kind. */
export const gitKinds: readonly GitKind[] = [snippetRepositories, wikiRepositories, projectRepositories];

/** What has repositories, and what follows a push to a project, in this order. */
export const repositories: Repositories = {
  kinds: gitKinds,
  followers: [
    readmeFollower,
    sizeFollower,
    eventFollower,
    hookFollower,
    broadcastFollower,
    mergeRequestFollower,
    releaseFollower,
    dependencyFollower,
    policyFollower,
    indexFollower,
    pipelineFollower,
    mirrorFollower,
    maintenanceFollower,
  ],
};

/** The kinds of events that webhooks are told of, as the documentation lists them. */
const hookEvents: readonly HookEventKind[] = [
  pushEvent,
  repositoryUpdateEvent,
  wikiUpdateEvent,
  wikiPageEvent,
  issueEvent(issueFields),
  mergeRequestEvent(mergeRequestFields),
  noteEvent(discussed.flatMap(({ hook }) => hook ?? [])),
  awardEvent(commented.flatMap(({ hook }) => hook ?? [])),
  milestoneEvent,
  releaseEvent,
  deploymentEvent,
  pipelineEvent,
  jobEvent,
  featureFlagEvent,
  errorEvent,
  vulnerabilityEvent,
  accessTokenEvent,
  memberEvent,
  groupEvent,
  projectEvent,
  userEvent,
  keyEvent,
  auditEventKind,
];

/** What the services of handlers and jobs take from the areas. */
export const areaServices: AreaServices = {
  askDirectories,
  followGroups,
  repositories,
  emptying: [emptyErrors, emptyEnvironments, emptyFeatureFlags, emptyPipelines],
  stored_files: [
    ...(['users', 'projects', 'namespaces', 'topics'] as const).map(avatarFiles),
    ...[pictureFiles, proxiedPictureFiles, uploadedFiles, metricImageFiles, dependencyExportFiles, relationExportFiles],
    ...[sourceMapFiles, chunkFiles, jobArtifactFiles, jobLogFiles, terraformStateFiles, secureFiles, lfsFiles],
  ],
  mail_targets: [
    ...issuables.map(({ kind, mail }) => mailTarget(kind.type, mail)),
    commentMail([...issuables, snippetNoun], commitNoun),
    ...[projectMail, errorMail, vulnerabilityMail, releaseMail, pipelineMail],
  ],
  hook_events: hookEvents,
};

/** What events are about, besides pushes and projects. */
const eventTargets = {
  nouns: [issueNoun.event, mergeRequestNoun.event, eventMilestones, snippetNoun.event, eventWikiPages, eventErrors],
  comments: eventComments,
};

/** What webhooks are tested with. */
const samples = {
  push_events: samplePush,
  tag_push_events: sampleTag,
  issues_events: sampleIssue,
  note_events: sampleNote([issueHook, mergeRequestHook], commitNoun.hook),
  merge_requests_events: sampleMergeRequest,
  emoji_events: sampleAward(issueHook),
  milestone_events: sampleMilestone,
  wiki_page_events: sampleWikiPage,
  resource_access_token_events: sampleToken,
  error_events: sampleError,
  feature_flag_events: sampleFeatureFlag,
  vulnerability_events: sampleVulnerability,
  deployment_events: sampleDeployment,
  job_events: sampleJob,
  pipeline_events: samplePipeline,
  releases_events: sampleRelease,
};

/** What a primary answers to its secondaries. */
export const geoRoutes: readonly AnyGeoRoute[] = [
  handshakeRoute,
  statusRoute(takeStatus),
  positionRoute,
  followedRoute,
  slotRoute,
  ...replicaRoutes,
];

/** The doors that are documented with the endpoints. */
const describedDoors: readonly DescribedDoor[] = [
  ...collectorDoors,
  ...sentryDoors,
  ...terraformStateDoors,
  ...triggerDoors,
  ...unleashDoors,
  ...runnerDoors,
  ...jobDoors,
  ...artifactDoors,
];

/** What only pages read. */
export const pageEndpoints: readonly AnyEndpoint[] = [
  ...discussed.map(shownDiscussions),
  lastCommitRoute,
  ...repositoryNameRoutes,
  commitTextRoute,
  ...mergeRequestConflictRoutes,
  ...wikiHistoryRoutes,
  ...ownPageRoutes,
  ...ownedApplicationRoutes,
  ...authorizedApplicationRoutes,
  signInLinkRoute,
  ...jobFailureRoutes,
  ...nodeRoutes,
  releaseEvidenceRoute,
  contributionDaysRoute(eventTargets),
  ...savedViewRoutes,
];

/** Every endpoint under the tag that the documentation shows it with, in the order in which it shows them. */
export const endpoints: readonly FiledEndpoint[] = [
  ...tagged('Metadata', 'Which version of the API the server speaks.', metadataRoutes),
  ...tagged('Markdown', 'Rendering Markdown as HTML.', markdownRoutes),
  ...tagged(
    'Users',
    'Accounts: profiles, status, preferences, followers, and their moderation by administrators.',
    userRoutes,
    userStatusRoutes,
    userModerationRoutes,
    secondFactorRoutes,
    userMembershipRoutes,
    userRemovalRoutes,
    userFollowRoutes,
    userPreferenceRoutes,
  ),
  ...tagged(
    'Custom attributes',
    'Texts by key that administrators keep with users, groups and projects.',
    customAttributeRoutes,
  ),
  ...tagged('Emails', 'The email addresses of users.', emailRoutes),
  ...tagged('SSH keys', 'The SSH keys of users, and whose a key is.', keyRoutes, keyLookupRoutes),
  ...tagged('GPG keys', 'The GPG keys of users.', gpgKeyRoutes),
  ...tagged(
    'Personal access tokens',
    'Tokens that act as the user they belong to.',
    tokenAssociationRoutes,
    personalAccessTokenRoutes,
  ),
  ...tagged('Impersonation tokens', 'Tokens by which administrators act as another user.', impersonationTokenRoutes),
  ...tagged('Applications', 'Programs that sign people in with this server, and act for them.', applicationRoutes),
  ...tagged(
    'Project and group access tokens',
    'Tokens that act as the bot user of a project or group.',
    accessTokenRoutes,
  ),
  ...tagged(
    'Service accounts',
    'Users for programs, of the instance or of a top-level group, and their tokens.',
    serviceAccountRoutes,
    groupServiceAccountRoutes,
    serviceAccountTokenRoutes,
  ),
  ...tagged('Application statistics', 'How much there is on the server.', statisticRoutes),
  ...tagged('Background jobs', 'How the background jobs of the server are.', sidekiqRoutes),
  ...tagged('SCIM', 'Accounts that an identity provider provisions.', scimTokenRoutes),
  ...tagged('Application settings', 'The settings of the server.', applicationSettingRoutes),
  ...tagged('Instance clusters', 'The Kubernetes clusters that every project can use.', clusterRoutes),
  ...tagged('Experiments', 'The experiments that the code declares.', experimentRoutes),
  ...tagged('Licenses', 'The licenses of the server, and what counts against them.', licenseRoutes),
  ...tagged('Features', 'Features that administrators turn on for everyone or for some.', featureRoutes),
  ...tagged('Freeze periods', 'Recurring periods in which a project is not deployed.', freezePeriods),
  ...tagged('Environments', 'The places where projects are deployed.', environmentRoutes(jobsById)),
  ...tagged(
    'Deployments',
    'What was deployed to an environment and when, by jobs or as external systems record it.',
    deploymentRoutes(jobsById),
    deploymentMergeRequestRoutes,
  ),
  ...tagged(
    'Protected environments',
    'Rules about who may deploy to environments, and whose approvals a deployment needs.',
    protectedEnvironmentRoutes,
  ),
  ...tagged(
    'Feature flags',
    'Flags that the applications of a project ask for through SDKs of Unleash.',
    featureFlagRoutes,
    featureFlagListRoutes,
  ),
  ...tagged(
    'Deploy tokens',
    'Tokens that fetch the code of a project or group on behalf of no user.',
    deployTokenRoutes,
  ),
  ...tagged(
    'Deploy keys',
    'SSH keys that fetch the code of projects, and push where a project lets them.',
    deployKeyRoutes,
  ),
  ...tagged('Audit events', 'Who did what: changes of accounts, rights, secrets, rules and settings, and sign-ins.', [
    ...auditEventRoutes,
    ...streamingDestinationRoutes,
  ]),
  ...tagged('CI/CD variables', 'Names and values for jobs, of projects, groups and the instance.', variableRoutes),
  ...tagged('Namespaces', 'What projects are in: groups and the namespaces of users.', namespaceRoutes),
  ...tagged('Groups', 'Groups: their settings, transfer, archiving and deletion.', groupRoutes, groupLifecycleRoutes),
  ...tagged(
    'Projects',
    'Projects: their settings, transfer, archiving and deletion.',
    projectRoutes,
    projectLifecycleRoutes,
  ),
  ...tagged(
    'Broadcast messages',
    'What administrators tell everybody, on pages and after pushes.',
    broadcastMessageRoutes,
  ),
  ...tagged('Appearance', 'How the server looks: names, texts, colours and pictures.', appearanceRoutes),
  ...tagged('Billable members', 'Who takes a seat of the license in a top-level group.', billableMemberRoutes),
  ...tagged('Templates', 'Texts for files, issues and merge requests that many projects have.', templateRoutes),
  ...tagged('Plan limits', 'Limits that administrators set for the whole server.', planLimitRoutes),
  ...tagged('Badges', 'Small pictures with a link, of projects and groups.', badgeRoutes),
  ...tagged('Topics', 'Words by which projects are found.', topicRoutes),
  ...tagged('Project stars', 'Projects that users have starred.', projectStarRoutes),
  ...tagged('Project forks', 'Copies of projects that remember where they come from.', [
    ...projectForkRoutes,
    ...projectImportRoutes,
  ]),
  ...tagged(
    'Issues',
    'Issues: their fields, order, people, time tracking and moves.',
    issueListRoutes,
    issueRoutes,
    issueMoveRoutes,
    peopleRoutes(issueNoun),
    issueOriginRoutes,
    issueMergeRequestRoutes,
    timeRoutes(issueNoun),
  ),
  ...tagged('Issue metric images', 'Images of metrics on an incident.', issueMetricImageRoutes),
  ...tagged(
    'Issue boards',
    'Issues of a project or group in lists, by label, assignee, milestone or iteration.',
    boardRoutes,
    boardListRoutes,
    boardIssueRoutes,
  ),
  ...tagged('Issue links', 'Relations between issues.', issueLinkRoutes),
  ...tagged(
    'Merge requests',
    'Merge requests: proposals to merge a branch into another.',
    mergeRequestListRoutes,
    mergeRequestRoutes,
    mergeRequestContentRoutes,
    mergeRequestCommitRoutes,
    mergeRequestBlockRoutes,
    reviewerRoutes,
    peopleRoutes(mergeRequestNoun),
    timeRoutes(mergeRequestNoun),
    mergeRequestMergeRoutes,
    approvalRoutes,
    approvalSettingRoutes,
    approvalLevelRoutes,
    approvalRuleRoutes,
    mergeRequestIssueRoutes,
  ),
  ...tagged('Suggestions', 'Changes of lines that comments on merge requests propose.', suggestionRoutes),
  ...tagged('Draft notes', 'Comments on merge requests that their authors have not published yet.', draftNoteRoutes),
  ...tagged('To-do items', 'The to-do list of the caller.', userCountRoutes, todoRoutes(todoTargets, Todo)),
  ...tagged('Events', 'What users did in projects.', eventRoutes(eventTargets)),
  ...tagged('Webhooks', 'URLs that receive the events of projects, groups and the server.', hookRoutes(samples)),
  ...tagged('Notification settings', 'What the caller gets mail about.', notificationSettingRoutes),
  ...tagged('Members', 'Members of groups and projects, and their roles.', memberRoutes, memberApprovalRoutes),
  ...tagged('Invitations', 'Invitations to groups and projects by email.', invitationRoutes),
  ...tagged('Compliance frameworks', 'What a top-level group demands of its projects, and which do not meet it.', [
    ...complianceFrameworkRoutes,
    ...complianceStatusRoutes,
    ...complianceViolationRoutes,
    ...custodyRoutes,
  ]),
  ...tagged('Member roles', 'Custom roles: an access level with single permissions on top.', memberRoleRoutes),
  ...tagged('Group sharing', 'Groups whose members are invited to another group or to a project.', groupLinkRoutes),
  ...tagged(
    'Group links with providers',
    'Groups of directories and other providers whose people are members of a group.',
    ldapGroupLinkRoutes,
    samlGroupLinkRoutes,
  ),
  ...tagged('Access requests', 'Requests to become a member of a group or project.', accessRequestRoutes),
  ...tagged('Branches', 'The branches of a repository.', branchRoutes),
  ...tagged(
    'Protected branches',
    'Rules about who may push to, merge into and unprotect branches.',
    protectedBranchRoutes,
    groupProtectedBranchRoutes,
  ),
  ...tagged(
    'Commits',
    'The commits of a repository: reading, creating, cherry-picking, reverting and commenting on them.',
    commitRoutes,
    commitDetailRoutes,
    commitWriteRoutes,
    submoduleRoutes,
    commitCommentRoutes,
  ),
  ...tagged('Commit statuses', 'What external systems report about a commit.', commitStatuses),
  ...tagged('CI configuration', 'Checks of the file that says which jobs a pipeline has.', lintRoutes),
  ...tagged(
    'Pipelines',
    'The jobs for a commit and ref, of its configuration or as external systems report them.',
    pipelineRoutes,
    runningRoutes,
    testReportRoutes,
    logRoutes,
    jobTokenRoutes,
  ),
  ...tagged(
    'Pipeline schedules',
    'Pipelines of a branch or tag that start at set times.',
    scheduleRoutes,
    scheduleVariableRoutes,
  ),
  ...tagged('Resource groups', 'What only one job of a project may use at a time.', resourceGroupRoutes),
  ...tagged('Secure files', 'Files that jobs need and that are not in the repository.', secureFileRoutes),
  ...tagged('Terraform states', 'States that Terraform and OpenTofu keep in projects.', terraformStateRoutes),
  ...tagged('Job token scope', 'Which jobs get into a project with their tokens.', jobTokenScopeRoutes),
  ...tagged('Triggers', 'Tokens with which programs start pipelines.', triggerRoutes),
  ...tagged('Jobs', 'What external systems report, as jobs of pipelines.', jobRoutes, artifactRoutes),
  ...tagged(
    'Runners',
    'Programs on other machines that execute jobs.',
    runnerRoutes,
    placeRunnerRoutes,
    runnerJobRoutes,
  ),
  ...tagged(
    'Repositories',
    'Trees, blobs, archives, comparisons and languages of a repository.',
    treeRoutes,
    blobRoutes,
    archiveRoutes,
    snapshotRoutes,
    fetchStatisticRoutes,
    compareRoutes,
    languageRoutes,
    changelogRoutes,
  ),
  ...tagged(
    'Dependencies',
    'What projects are built on, as their lock files and bills of materials say.',
    dependencyRoutes,
    dependencyDocumentRoutes,
    dependencyExportRoutes,
  ),
  ...tagged('Vulnerabilities', 'What is known to be wrong with the dependencies of projects.', vulnerabilityRoutes),
  ...tagged('Tags', 'The tags of a repository.', tagRoutes(releasesOfTags)),
  ...tagged(
    'Releases',
    'Tags with a title, notes, links, milestones and evidence.',
    releaseRoutes,
    releaseLinkRoutes,
    groupReleaseRoutes,
  ),
  ...tagged('Protected tags', 'Rules about who may create tags.', protectedTagRoutes),
  ...tagged(
    'Push rules',
    'What commits, files, branches and tags must keep to when they are pushed.',
    pushRuleRoutes,
    pushRuleCheckRoutes,
  ),
  ...tagged(
    'Security policies',
    'Approvals that a group or project requires by a file in another project.',
    securityPolicyRoutes,
  ),
  ...tagged(
    'Mirrors',
    'Copies of repositories on other servers, and of those of other servers here.',
    remoteMirrorRoutes,
    pullMirrorRoutes,
  ),
  ...tagged('Repository files', 'Single files of a repository: their content, blame and changes.', repositoryFiles),
  ...tagged('Storage moves', 'Moving repositories from one git storage to another.', storageMoveRoutes),
  ...tagged(
    'Relation exports',
    'What belongs to a project or group in files, for its migration to another server.',
    relationExportRoutes,
  ),
  ...tagged(
    'Bulk imports',
    'Migrations by direct transfer: groups and projects that are copied from another server.',
    bulkImportRoutes,
  ),
  ...tagged('Placeholders', 'Accounts that represent users of another server after a migration.', [
    ...placeholderRoutes,
    ...proposalRoutes,
  ]),
  ...tagged(
    'Geo',
    'The sites of an installation: a primary, and secondaries that follow it.',
    geoNodeRoutes,
    geoNodeStatusRoutes,
  ),
  ...tagged('Snippets', 'Files under a title, of projects and of users.', snippetRoutes),
  ...tagged(
    'Wikis',
    'The pages of projects and groups, each a file in a repository.',
    wikiRoutes(wikiPageHtml),
    wikiAttachmentRoutes,
  ),
  ...tagged('Labels', 'Labels of projects and groups.', labelRoutes),
  ...tagged(
    'Milestones',
    'Milestones of projects and groups, with their issues and merge requests.',
    milestoneRoutes,
    burndownRoutes,
    milestoneIssueRoutes,
    milestoneMergeRequestRoutes,
  ),
  ...tagged(
    'Iterations',
    'Iterations of groups, and the cadences that create them.',
    iterationRoutes,
    iterationCadenceRoutes,
  ),
  ...tagged(
    'Resource events',
    'Changes to the labels, state, milestone, weight and iteration of issues, epics and merge requests.',
    issuables.flatMap(resourceEventRoutes),
  ),
  ...tagged(
    'Search',
    'Finding projects, issues, code, comments and more, among all that the caller may read.',
    searchRoutes,
    codeIndexRoutes,
  ),
  ...tagged('Notes', 'Comments on issues, epics, merge requests and snippets.', commented.flatMap(noteRoutes)),
  ...tagged(
    'Discussions',
    'Threads of comments on issues, epics, merge requests, snippets and commits.',
    discussed.flatMap(discussionRoutes),
  ),
  ...tagged('Uploads', 'Files for the texts of projects and groups.', uploadRoutes),
  ...tagged('Epics', 'Epics: their fields and people.', epicRoutes, peopleRoutes(epicNoun)),
  ...tagged('Child epics', 'The children of an epic, in order.', epicChildRoutes),
  ...tagged('Related epics', 'Relations between epics.', epicLinkRoutes),
  ...tagged('Epic issues', 'The issues of an epic, in order.', epicIssueRoutes),
  ...tagged(
    'Error tracking',
    'Errors that applications send: the settings of a project, the keys of clients, and the errors with their events.',
    errorTrackingSettingRoutes,
    clientKeyRoutes,
    errorRoutes,
    errorChangeRoutes,
    errorEventRoutes,
    releaseHealthRoutes,
  ),
  ...tagged('Emoji reactions', 'Reactions to issues, epics, snippets and notes.', commented.flatMap(awardEmojiRoutes)),
];

/** What the documentation describes. */
export const documented: Documented = { endpoints, doors: describedDoors, hook_events: hookEvents };
