import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { removeLeftLocks, settleReferenceUpdates } from '../areas/code/repository/index.ts';
import { makeOwnNode } from '../areas/geo/geo_nodes/index.ts';
import { areaServices } from '../areas/index.ts';
import { BlobStoreError } from '../blobs/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import { closeReaders } from '../git/index.ts';
import { blobsOf, servicesFor } from '../services/index.ts';
import type { Command } from './command.ts';
import { maximumConnections, type OpenDatabase, withDatabase } from './database.ts';
import { openDoor } from './door.ts';
import { addFirstAdministrator, secretsText, welcome } from './first_administrator.ts';
import { installFirstLicense } from './first_license.ts';
import { makeFolders, refuseUnfitStorages } from './folders.ts';
import { settlePorts } from './listening.ts';
import { openLog } from './log.ts';
import { collectRarely, releaseMemory } from './memory.ts';
import { asNode } from './node.ts';
import { runningNode } from './running_node.ts';
import { asSite, openTunnelOf, prepareSite, readsOnly } from './site.ts';
import { openSshDoor } from './ssh_door.ts';
import { listenForStop, type StopRequest } from './stop_request.ts';
import { jobPatience_ms, workHere } from './work.ts';

/** Longer than any ordinary request, shorter than the timeouts of supervisors. */
const drainTimeout_ms = 8000;

export const serve: Command = {
  summary: 'Start the server',
  help: `Everything is configured by environment variables; docs/operating.md lists them. Without any, the server listens on
http://localhost:3000 and keeps everything below ./data. Ctrl-C stops it when the requests under way have been answered.

Options
  --without-jobs     leaves background jobs to processes started with \`work\``,
  options: { 'without-jobs': { type: 'boolean' } },
  run: async (given, wanted) => {
    const stop = listenForStop();
    collectRarely();
    process.stdout.write(`${runningNode(process.versions.node, new Date())}\n`);
    const log = openLog(wanted);
    const config = await settlePorts(wanted, (sentence) => log.warn(sentence));
    for (const warning of config.signIn.warnings) log.warn(warning);
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {}); // handled below, once the server listens
    const embedded = {
      use: 'exclusive',
      onRestart: (sentence: string) => log.warn(sentence),
      onLost: lost.reject,
    } as const;
    const serveAs = (site: Config) =>
      withDatabase(site, embedded, maximumConnections, (open) =>
        asSite(site, open.db, log, async (changed) => {
          if (stop.isStopping) return;
          await makeFolders(site);
          await refuseUnfitStorages(site);
          await tryBucket(site, log);
          await prepareSite(site, open.db);
          const tunnel = await openTunnelOf(site, open.db, log);
          const runsJobs = !given.switches['without-jobs'];
          const roles = runsJobs ? (['requests', 'jobs'] as const) : (['requests'] as const);
          try {
            await asNode(site, open.db, log, roles, async () => {
              const worker = runsJobs ? await workHere(site, open, log) : undefined;
              try {
                await serveUntil(site, open, log, stop, Promise.race([lost.promise, changed]));
              } finally {
                await worker?.stop(jobPatience_ms);
              }
            });
          } finally {
            await tunnel?.close();
          }
        }),
      );
    for (let site: Config | undefined = config; site && !stop.isStopping; ) site = await serveAs(site);
    return 0;
  },
};

/** Checked at the start instead of at the first upload. Everything else works without the store. */
async function tryBucket(config: Config, log: Logger): Promise<void> {
  if (config.blobs.kind !== 's3') return;
  try {
    await blobsOf(config).keys()[Symbol.asyncIterator]().next();
  } catch (error) {
    if (!(error instanceof BlobStoreError)) throw error;
    log.error(
      { reason: error.message },
      'the store of COPPICE_BLOBS cannot be used: requests that need it are answered with 503',
    );
  }
}

/**
 * The steps of a server that may write before it listens.
 * @returns the first administrator, if they were added
 */
async function beginWork(config: Config, db: Database, log: Logger) {
  const services = servicesFor(config, db, areaServices);
  await installFirstLicense(services, config);
  await makeOwnNode(services);
  const administrator = await addFirstAdministrator(db, config, (made) => process.stdout.write(secretsText(made)));
  // The embedded database belongs to one server.
  const alone_since = config.databaseUrl === undefined ? new Date(performance.timeOrigin) : undefined;
  if (alone_since) await removeLeftLocks.enqueue(db, { before: alone_since.toISOString() }, { key: 'start' });
  await settleReferenceUpdates(services, alone_since && { alone_since }).catch((error) =>
    log.error({ err: error }, 'ref updates that a killed process left could not be settled; a job tries again'),
  );
  return administrator;
}

async function serveUntil(
  config: Config,
  open: OpenDatabase,
  log: Logger,
  stop: StopRequest,
  ended: Promise<unknown>,
): Promise<void> {
  const administrator = readsOnly(config) ? undefined : await beginWork(config, open.db, log);
  try {
    const door = await openDoor(config, open, log);
    const sshDoor = await openSshDoor(config, log, door.takeSsh).catch(async (error) => {
      await door.close(Promise.resolve());
      throw error;
    });
    try {
      process.stdout.write(
        administrator
          ? welcome(config.url, administrator)
          : `Coppice is ready at ${config.url}. Open it in a browser; ${config.url}/docs describes every endpoint. Ctrl-C stops it.\n`,
      );
      releaseMemory();
      await Promise.race([stop.first, ended]);
      if (stop.isStopping && config.drain_s > 0) {
        door.leave();
        process.stdout.write(`Coppice says that it is not ready, and stops in ${config.drain_s} seconds.\n`);
        await Promise.race([sleep(config.drain_s * 1000, undefined, { ref: false }), stop.second, ended]);
      }
      process.stdout.write(
        stop.isStopping ? 'Coppice is stopping.\n' : 'Coppice starts anew, because this site has become another one.\n',
      );
    } finally {
      const cutOff = Promise.race([stop.second, sleep(drainTimeout_ms, undefined, { ref: false })]);
      await sshDoor.close(cutOff);
      await door.close(cutOff);
    }
  } finally {
    await closeReaders();
  }
}
