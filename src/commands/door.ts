/** The listening socket: requests are answered by this process, or by several that it starts. */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { buildApp } from '../app.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/index.ts';
import { drain, leave } from '../http/drain.ts';
import { loadMeter } from '../http/overload.ts';
import {
  asText,
  type Measured,
  newRegistry,
  watchCodeIndex,
  watchJobs,
  watchNodes,
  watchPipelines,
  watchSites,
  watchStorageMoves,
} from '../metrics.ts';
import { maximumConnections, type OpenDatabase, patienceOf } from './database.ts';
import { surviveEscapedErrors } from './escaped_errors.ts';
import { listenProblem } from './listening.ts';
import { startProcesses } from './processes.ts';
import { readsOnly } from './site.ts';
import { sshServerOf } from './ssh_server.ts';

export interface Door {
  /** Stops accepting, waits for open requests, and aborts the remaining ones when `cutOff` resolves. */
  close(cutOff: Promise<unknown>): Promise<void>;
}

/** The door of HTTP. The processes that answer requests serve SSH, too. */
export interface MainDoor extends Door {
  /** Says from now on that it is not ready, and answers all the same. */
  leave(): void;
  /** Serves a paused connection of the port of SSH. */
  takeSsh(socket: Socket): void;
}

/** Connections to PostgreSQL of all processes together. The limit of PostgreSQL is 100 unless an operator has changed it. */
const connectionsOfAll = 60;

/**
 * Starts listening.
 * @throws OperatorError when it cannot
 */
export async function openDoor(config: Config, open: OpenDatabase, log: Logger): Promise<MainDoor> {
  const registry = newRegistry(open.db);
  watchNodes(registry, open.db);
  watchJobs(registry, open.db);
  watchStorageMoves(registry, open.db);
  watchPipelines(registry, open.db);
  watchCodeIndex(registry, open.db);
  if (config.geo.role !== undefined) watchSites(registry, open.db);
  const gather = async (others: Measured[]) => asText([await registry.getMetricsAsJSON(), ...others]);
  const reads_only = readsOnly(config);
  if (config.processes === 1) {
    const { connectionString } = open;
    // Jobs write to the database, also on a secondary.
    const db = reads_only
      ? connect({ connectionString, max: maximumConnections, reads_only, patience_ms: patienceOf(config) })
      : open.db;
    const app = await buildApp({
      config,
      db,
      log,
      metrics: { registry, gather: () => gather([]) },
      isDelayed: loadMeter(db),
    });
    const ssh = await sshServerOf(config, db, log);
    const door = await openHere(app, config, log);
    return {
      leave: () => leave(app.server),
      takeSsh: ssh.take,
      close: async (cutOff) => {
        await Promise.all([door.close(cutOff), ssh.close(cutOff)]);
        if (db !== open.db) await db.destroy();
      },
    };
  }
  const connections = Math.max(4, Math.min(maximumConnections, Math.floor(connectionsOfAll / config.processes)));
  const { connectionString } = open;
  const processes = await startProcesses({ config, connectionString, connections, log, gather }).catch((error) => {
    throw listenProblem(error as NodeJS.ErrnoException, { ...config, variable: 'COPPICE_PORT' });
  });
  return { leave: processes.leave, close: processes.stop, takeSsh: processes.takeSsh };
}

/** Keeps Fastify from logging that it listens: people read that in the welcome text, before the first log line. */
async function openHere(app: FastifyInstance, config: Config, log: Logger): Promise<Door> {
  const { host, port, logLevel } = config;
  log.level = 'silent';
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenProblem(error as NodeJS.ErrnoException, { ...config, variable: 'COPPICE_PORT' });
  } finally {
    log.level = logLevel;
  }
  surviveEscapedErrors(log);
  return {
    close: async (cutOff) => {
      await drain(app.server, cutOff);
      await app.close();
    },
  };
}
