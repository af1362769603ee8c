import type { Logger } from 'pino';
import { areaServices } from '../areas/index.ts';
import { logAuditEvents } from '../areas/instance/audit_events/index.ts';
import { jobs, polls, secondaryPolls } from '../areas/jobs.ts';
import { watchSwitches } from '../areas/spaces/storage_moves/index.ts';
import type { Config } from '../config.ts';
import { startWorker, type Worker } from '../jobs/index.ts';
import { tryMailServer } from '../mail/index.ts';
import { mailFolder, servicesFor } from '../services/index.ts';
import type { Command } from './command.ts';
import { type OpenDatabase, withDatabase } from './database.ts';
import { openLog } from './log.ts';
import { asNode } from './node.ts';
import { runningNode } from './running_node.ts';
import { asSite, prepareSite } from './site.ts';
import { listenForStop } from './stop_request.ts';

const concurrency = 4;
/** How long a stopping worker waits for running jobs. */
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
          await asNode(site, open.db, log, ['jobs'], async () => {
            const worker = await workHere(site, open, log);
            process.stdout.write('Coppice is running jobs. Ctrl-C stops it.\n');
            try {
              await Promise.race([stop.first, lost.promise, changed]);
            } finally {
              await worker?.stop(jobPatience_ms);
            }
          });
        }),
      );
    for (let site: Config | undefined = config; site && !stop.isStopping; ) site = await workAs(site);
    return 0;
  },
};

/** Checked at the start instead of at the first message. Nothing waits for it: the mail server may be down, and jobs retry. */
async function tryMail(smtpUrl: string, log: Logger): Promise<void> {
  await tryMailServer(smtpUrl).catch(({ message }: Error) =>
    log.error({ reason: message }, 'the mail server of COPPICE_SMTP_URL cannot be used: mail waits until it can'),
  );
}

/** Runs jobs in this process, and prints where their mail is sent. A primary that was replaced runs no jobs. */
export async function workHere(
  config: Config,
  { db, connectionString }: OpenDatabase,
  log: Logger,
): Promise<Worker | undefined> {
  if (config.geo.successor !== undefined) return undefined;
  const services = servicesFor(config, db, areaServices);
  logAuditEvents(db, log);
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
