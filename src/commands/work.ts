import type { Logger } from 'pino';
import { removeOldEvents } from '../areas/activity/events/index.ts';
import { announceEvents, removeOldHookEvents, sendHookDeliveries } from '../areas/activity/hooks/index.ts';
import {
  collectNotifications,
  removeOldNotifications,
  sendNotification,
  sendNotifications,
} from '../areas/activity/notifications/index.ts';
import { endTodosOfGoneCommits } from '../areas/activity/todos/index.ts';
import { keepDependencies, scanDependencies, writeDependencyExport } from '../areas/code/dependencies/index.ts';
import { removeUnusedObjects } from '../areas/code/lfs/index.ts';
import {
  maintainRepository,
  measureRepositories,
  removeLeftLocks,
  removeUnused,
  settleReferences,
} from '../areas/code/repository/index.ts';
import { followPrimary, keepSlots } from '../areas/geo/following/index.ts';
import { statusPolls } from '../areas/geo/geo_nodes/index.ts';
import { copyPolls, keepChecksums, primaryPolls } from '../areas/geo/replicas/index.ts';
import { areaServices } from '../areas/index.ts';
import { removeOldRequestCounts } from '../areas/instance/application_settings/index.ts';
import { removeUnusedBlobs } from '../areas/instance/blobs/index.ts';
import { forgetCostlyFiles } from '../areas/instance/costly_files/index.ts';
import { recordBillableUsers, tellOfLicenseEnd, warnOfLicenseEnd } from '../areas/instance/licenses/index.ts';
import { bulkImportWork } from '../areas/migration/bulk_imports/index.ts';
import { continueExports, removeExpiredExports, writeRelationExport } from '../areas/migration/export_relations/index.ts';
import { reassignPlaceholder, removeOrphanedPlaceholders } from '../areas/migration/placeholders/index.ts';
import { groupTrees, projectTrees } from '../areas/migration/relations.ts';
import {
  confirmEmail,
  confirmNewPrimary,
  removeUnconfirmedEmails,
  tellOfNewEmail,
  tellOfPrimaryChange,
  tellOfPrimaryRequest,
} from '../areas/people/emails/index.ts';
import { recordGroupSeats, removeGroup } from '../areas/people/namespaces/index.ts';
import { deleteOldOauthTokens } from '../areas/people/oauth_tokens/index.ts';
import { removeUser } from '../areas/people/users/index.ts';
import { advanceIterations } from '../areas/planning/iterations/index.ts';
import { removeOrphanedBots, tellOfExpiringTokens } from '../areas/spaces/access_tokens/index.ts';
import { removeExpiredGroupLinks } from '../areas/spaces/group_links/index.ts';
import { removeMarkedGroups } from '../areas/spaces/groups/index.ts';
import {
  acceptInvitations,
  remindInvited,
  remindOfInvitation,
  removeOldInvitations,
  tellOfAcceptance,
  tellOfAccess,
  tellOfRefusal,
  writeInvitation,
} from '../areas/spaces/invitations/index.ts';
import { removeExpiredMemberships } from '../areas/spaces/members/index.ts';
import { addUpOpenIssues, copyFork, removeMarkedProjects, removeProject } from '../areas/spaces/projects/index.ts';
import { removeOrphanedServiceAccounts } from '../areas/spaces/service_accounts/index.ts';
import { continueMoves, moveRepositories, scheduleMoves, watchSwitches } from '../areas/spaces/storage_moves/index.ts';
import { digestErrors, forgetOldErrors, removeError, unpackBundle } from '../areas/work/error_tracking/index.ts';
import { fillIssueFlags, tellOfDueIssues } from '../areas/work/issues/index.ts';
import {
  closeForeignOnes,
  closeOrphans,
  concludeMerges,
  followMergeRequests,
  followThreads,
  mergeByCommand,
  mergeReady,
  openMergeRequest,
  prepareMergeRequest,
  readClosedIssues,
  rebaseSource,
  removeMergeRequestRefs,
} from '../areas/work/merge_requests/index.ts';
import type { Config } from '../config.ts';
import { type AnyJob, type Poll, startWorker, type Worker } from '../jobs/index.ts';
import { tryMailServer } from '../mail/index.ts';
import { mailFolder, servicesFor } from '../services/index.ts';
import type { Command } from './command.ts';
import { type OpenDatabase, withDatabase } from './database.ts';
import { openLog } from './log.ts';
import { runningNode } from './running_node.ts';
import { asSite, prepareSite } from './site.ts';
import { listenForStop } from './stop_request.ts';

const migrations = bulkImportWork({ group: groupTrees, project: projectTrees });

/** Every job of every area. */
const jobs: readonly AnyJob[] = [
  keepDependencies,
  scanDependencies,
  writeDependencyExport,
  digestErrors,
  fillIssueFlags,
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
  prepareMergeRequest,
  readClosedIssues,
  removeMergeRequestRefs,
  announceEvents,
  sendHookDeliveries,
  removeOldHookEvents,
  sendNotification,
  sendNotifications,
  removeOldNotifications,
  tellOfDueIssues,
  endTodosOfGoneCommits,
  maintainRepository,
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
  removeProject,
  removeMarkedProjects,
  copyFork,
  removeGroup,
  removeMarkedGroups,
  removeUser,
  deleteOldOauthTokens,
  removeOrphanedBots,
  tellOfExpiringTokens,
  removeOrphanedServiceAccounts,
  removeOrphanedPlaceholders,
  reassignPlaceholder,
  removeOldRequestCounts,
  advanceIterations,
  removeOldEvents,
  removeUnusedBlobs,
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
  ...migrations.jobs,
];

const polls: readonly Poll[] = [
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
const secondaryPolls: readonly Poll[] = [followPrimary, ...copyPolls, ...statusPolls];

const concurrency = 4;
/** How long a stop waits for running jobs. */
export const jobPatience_ms = 5000;

export const work: Command = {
  summary: 'Run background jobs only',
  help: `Runs jobs on a separate machine, for servers started with \`serve --without-jobs\`. It needs the settings of these servers, also COPPICE_URL and
COPPICE_SSH_PORT, which links in mail and webhooks contain. Ctrl-C returns unfinished jobs to the queue.`,
  options: {},
  run: async (_given, config) => {
    const stop = listenForStop();
    process.stdout.write(`${runningNode(process.versions.node, new Date())}\n`);
    const log = openLog(config);
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {}); // handled below, once the worker runs
    const workAs = (site: Config) =>
      withDatabase(site, { use: 'shared', onLost: lost.reject }, concurrency + 2, (open) =>
        asSite(site, open.db, log, async (changed) => {
          await prepareSite(site, open.db);
          const worker = await workHere(site, open, log);
          process.stdout.write('Coppice is running jobs. Ctrl-C stops it.\n');
          try {
            await Promise.race([stop.first, lost.promise, changed]);
          } finally {
            await worker?.stop(jobPatience_ms);
          }
        }),
      );
    for (let site: Config | undefined = config; site && !stop.isStopping; ) site = await workAs(site);
    return 0;
  },
};

/** Said at the start, and not with the first message. Nothing waits for it: the mail server may be down, and jobs try again. */
async function tryMail(smtpUrl: string, log: Logger): Promise<void> {
  await tryMailServer(smtpUrl).catch(({ message }: Error) =>
    log.error({ reason: message }, 'the mail server of COPPICE_SMTP_URL cannot be used: mail waits until it can'),
  );
}

/** Runs jobs in this process, and says where their mail goes. A primary that was replaced runs none. */
export async function workHere(config: Config, { db, connectionString }: OpenDatabase, log: Logger): Promise<Worker | undefined> {
  if (config.geo.successor !== undefined) return undefined;
  const services = servicesFor(config, db, areaServices);
  if (config.geo.role === 'secondary')
    return startWorker({ connectionString, jobs: [], polls: secondaryPolls, services, log, concurrency });
  if (config.smtpUrl === undefined)
    process.stdout.write(`Mail is stored as files in ${mailFolder(config)}, because COPPICE_SMTP_URL is not set.\n`);
  else void tryMail(config.smtpUrl, log);
  const worker = await startWorker({ connectionString, jobs, polls, services, log, concurrency });
  const stopWatching = watchSwitches(services, log);
  return {
    async stop(patience_ms) {
      stopWatching();
      await worker.stop(patience_ms);
    },
  };
}
