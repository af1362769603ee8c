/** Every job and poll of every area, for the worker. */
import type { AnyJob, Poll } from '../jobs/index.ts';
import { removeOldEvents } from './activity/events/index.ts';
import {
  announceComposedEvents,
  announceEvents,
  removeOldHookEvents,
  sendHookDeliveries,
} from './activity/hooks/index.ts';
import {
  collectNotifications,
  removeOldNotifications,
  sendNotification,
  sendNotifications,
} from './activity/notifications/index.ts';
import { endTodosOfGoneCommits } from './activity/todos/index.ts';
import { removeExpiredArtifacts, removeProjectArtifacts, takeReports } from './ci/artifacts/index.ts';
import { cancelChild, followPipelines, moveBridges, startBridge } from './ci/bridges/index.ts';
import { endOverdueJobs, measureCoverage, removePipelineRefs } from './ci/jobs/index.ts';
import { storeEndedLogs } from './ci/logs/index.ts';
import { forgetSilentManagers } from './ci/runners/index.ts';
import { failRejected, moveStanding, processAgain, startDelayed, startForPush, stopByJob } from './ci/running/index.ts';
import { runSchedule, startSchedules, tellOfStop } from './ci/schedules/index.ts';
import { indexCode, keepCodeIndex } from './code/code_search/index.ts';
import {
  keepDependencies,
  readCommitDependencies,
  scanDependencies,
  writeDependencyExport,
} from './code/dependencies/index.ts';
import { removeUnusedObjects } from './code/lfs/index.ts';
import { pullMirror, pushMirror, schedulePulls, tellOfMirrorFailure } from './code/mirrors/index.ts';
import { assignPipelines, refreshPipelines } from './code/pipelines/index.ts';
import {
  findReadmes,
  maintainRepository,
  measureRepositories,
  removeLeftLocks,
  removeOldFetches,
  removeUnused,
  settleReferences,
} from './code/repository/index.ts';
import { readSecurityPolicies, tellOfPolicyEnd, tellOfPolicyErrors } from './code/security_policies/index.ts';
import { endEnvironments } from './deployments/environments/index.ts';
import { followPrimary, keepSlots } from './geo/following/index.ts';
import { statusPolls } from './geo/geo_nodes/index.ts';
import { copyPolls, keepChecksums, primaryPolls } from './geo/replicas/index.ts';
import { removeOldRequestCounts } from './instance/application_settings/index.ts';
import { keepAuditPartitions } from './instance/audit_events/index.ts';
import { removeUnusedBlobs } from './instance/blobs/index.ts';
import { forgetCostlyFiles } from './instance/costly_files/index.ts';
import { recordBillableUsers, tellOfLicenseEnd, warnOfLicenseEnd } from './instance/licenses/index.ts';
import { removeOldPictures } from './instance/pictures/index.ts';
import { bulkImportWork } from './migration/bulk_imports/index.ts';
import { continueExports, removeExpiredExports, writeRelationExport } from './migration/export_relations/index.ts';
import { reassignPlaceholder, removeOrphanedPlaceholders, tellOfProposal } from './migration/placeholders/index.ts';
import { groupTrees, projectTrees } from './migration/relations.ts';
import { tellOwner } from './people/account_notices/index.ts';
import {
  confirmEmail,
  confirmNewPrimary,
  removeUnconfirmedEmails,
  tellOfNewEmail,
  tellOfPrimaryChange,
  tellOfPrimaryRequest,
} from './people/emails/index.ts';
import { recordGroupSeats, removeGroup } from './people/namespaces/index.ts';
import { deleteOldCodes } from './people/oauth_grants/jobs.ts';
import { deleteOldOauthTokens } from './people/oauth_tokens/jobs.ts';
import { checkActivePeople, checkEverybody, forgetOldRounds } from './people/providers/index.ts';
import { deleteOldSignIns } from './people/second_factors/index.ts';
import { deleteEndedSessions, sendPasswordLink } from './people/sessions/index.ts';
import { deactivateDormantUsers, removeUser } from './people/users/index.ts';
import { advanceIterations } from './planning/iterations/index.ts';
import { removeOrphanedBots, tellOfExpiringTokens } from './spaces/access_tokens/index.ts';
import { removeExpiredGroupLinks } from './spaces/group_links/index.ts';
import { removeMarkedGroups } from './spaces/groups/index.ts';
import {
  acceptInvitations,
  remindInvited,
  remindOfInvitation,
  removeOldInvitations,
  tellOfAcceptance,
  tellOfAccess,
  tellOfRefusal,
  writeInvitation,
} from './spaces/invitations/index.ts';
import { removeExpiredMemberships } from './spaces/members/index.ts';
import { addUpOpenIssues, copyFork, removeMarkedProjects, removeProject } from './spaces/projects/index.ts';
import { syncGroupLinks, syncLinkedDirectory } from './spaces/provider_links/index.ts';
import { removeOrphanedServiceAccounts } from './spaces/service_accounts/index.ts';
import { continueMoves, moveRepositories, scheduleMoves } from './spaces/storage_moves/index.ts';
import { digestErrors, forgetOldErrors, removeError, unpackBundle } from './work/error_tracking/index.ts';
import { rollIssuesOver, tellOfDueIssues } from './work/issues/index.ts';
import {
  closeForeignOnes,
  closeOrphans,
  concludeMerges,
  followDeployments,
  followMergeRequests,
  followThreads,
  keepMerged,
  mergeByCommand,
  mergeReady,
  openMergeRequest,
  prepareMergeRequest,
  readClosedIssues,
  rebaseSource,
  remindOfPipeline,
  removeMergeRequestRefs,
  startMergeRequestPipeline,
  writePolicyMessage,
  writePolicyMessages,
} from './work/merge_requests/index.ts';
import { collectDueEvidence } from './work/releases/index.ts';

const migrations = bulkImportWork({ group: groupTrees, project: projectTrees });

export const jobs: readonly AnyJob[] = [
  sendPasswordLink,
  checkActivePeople,
  checkEverybody,
  forgetOldRounds,
  deleteEndedSessions,
  deactivateDormantUsers,
  deleteOldSignIns,
  tellOwner,
  indexCode,
  keepCodeIndex,
  keepDependencies,
  readCommitDependencies,
  readSecurityPolicies,
  scanDependencies,
  writeDependencyExport,
  digestErrors,
  rollIssuesOver,
  forgetOldErrors,
  removeError,
  unpackBundle,
  closeForeignOnes,
  closeOrphans,
  concludeMerges,
  mergeByCommand,
  mergeReady,
  openMergeRequest,
  rebaseSource,
  followMergeRequests,
  followThreads,
  keepMerged,
  prepareMergeRequest,
  readClosedIssues,
  writePolicyMessage,
  writePolicyMessages,
  removeMergeRequestRefs,
  remindOfPipeline,
  startMergeRequestPipeline,
  collectDueEvidence,
  announceEvents,
  announceComposedEvents,
  sendHookDeliveries,
  removeOldHookEvents,
  sendNotification,
  sendNotifications,
  removeOldFetches,
  removeOldNotifications,
  tellOfDueIssues,
  endTodosOfGoneCommits,
  pullMirror,
  pushMirror,
  schedulePulls,
  tellOfMirrorFailure,
  tellOfPolicyEnd,
  tellOfPolicyErrors,
  assignPipelines,
  endOverdueJobs,
  measureCoverage,
  forgetSilentManagers,
  removeExpiredArtifacts,
  storeEndedLogs,
  removePipelineRefs,
  removeProjectArtifacts,
  takeReports,
  processAgain,
  failRejected,
  stopByJob,
  moveStanding,
  startDelayed,
  startForPush,
  ...[startBridge, followPipelines, cancelChild, moveBridges],
  runSchedule,
  startSchedules,
  tellOfStop,
  refreshPipelines,
  maintainRepository,
  findReadmes,
  measureRepositories,
  moveRepositories,
  scheduleMoves,
  removeLeftLocks,
  removeUnused,
  settleReferences,
  removeExpiredMemberships,
  acceptInvitations,
  remindInvited,
  remindOfInvitation,
  removeOldInvitations,
  tellOfAcceptance,
  tellOfAccess,
  tellOfRefusal,
  writeInvitation,
  removeUnusedObjects,
  removeExpiredGroupLinks,
  syncGroupLinks,
  syncLinkedDirectory,
  removeProject,
  removeMarkedProjects,
  copyFork,
  removeGroup,
  removeMarkedGroups,
  removeUser,
  deleteOldOauthTokens,
  deleteOldCodes,
  removeOrphanedBots,
  tellOfExpiringTokens,
  removeOrphanedServiceAccounts,
  removeOrphanedPlaceholders,
  reassignPlaceholder,
  tellOfProposal,
  removeOldRequestCounts,
  advanceIterations,
  removeOldEvents,
  keepAuditPartitions,
  removeUnusedBlobs,
  removeOldPictures,
  forgetCostlyFiles,
  confirmEmail,
  confirmNewPrimary,
  tellOfNewEmail,
  tellOfPrimaryRequest,
  tellOfPrimaryChange,
  removeUnconfirmedEmails,
  recordBillableUsers,
  recordGroupSeats,
  warnOfLicenseEnd,
  tellOfLicenseEnd,
  removeExpiredExports,
  writeRelationExport,
  keepChecksums,
  endEnvironments,
  followDeployments,
  ...migrations.jobs,
];

export const polls: readonly Poll[] = [
  collectNotifications,
  addUpOpenIssues,
  continueExports,
  continueMoves,
  ...migrations.polls,
  ...primaryPolls,
  ...statusPolls,
  keepSlots,
];

/** A secondary follows; what else is to be done, its primary does. */
export const secondaryPolls: readonly Poll[] = [followPrimary, ...copyPolls, ...statusPolls];
