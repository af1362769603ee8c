import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { buildApp } from '../app.ts';
import { settleReferenceUpdates } from '../areas/repository/index.ts';
import type { Config } from '../config.ts';
import { closeReaders } from '../git/index.ts';
import { type Command, OperatorError } from './command.ts';
import { type OpenDatabase, withDatabase } from './database.ts';
import { addFirstAdministrator, welcome } from './first_administrator.ts';
import { listenForStop, type StopRequest } from './stop_request.ts';
import { jobPatience_ms, workHere } from './work.ts';

/** Connections to PostgreSQL; more would only queue there instead of here. */
const connections = 20;
/** Longer than any ordinary request, shorter than the patience of supervisors. */
const drainTimeout_ms = 8000;

export const serve: Command = {
  summary: 'Start the server',
  help: `Everything is configured by environment variables; docs/operating.md lists them. Without any, the server listens on
http://localhost:3000 and keeps everything below ./data. Ctrl-C stops it when the requests under way have been answered.

Options
  --without-jobs     leaves background jobs to processes started with \`work\``,
  options: { 'without-jobs': { type: 'boolean' } },
  run: async (given, config) => {
    const stop = listenForStop();
    const log = pino({ level: config.logLevel });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {}); // heard below, once the server listens
    const embedded = {
      use: 'exclusive',
      onRestart: (sentence: string) => log.warn(sentence),
      onLost: lost.reject,
    } as const;
    await makeStorages(config);
    await withDatabase(config, embedded, connections, async (open) => {
      if (stop.isStopping) return;
      const worker = given.switches['without-jobs'] ? undefined : await workHere(config, open, log);
      try {
        await serveUntil(config, open, log, stop, lost.promise);
      } finally {
        await worker?.stop(jobPatience_ms);
      }
    });
    return 0;
  },
};

async function makeStorages({ storages }: Config): Promise<void> {
  for (const { name, path } of storages) {
    await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      throw new OperatorError(`The folder of the storage ${name}, ${path}, cannot be made (${error.code}).`);
    });
  }
}

async function serveUntil(
  config: Config,
  { db }: OpenDatabase,
  log: Logger,
  stop: StopRequest,
  lost: Promise<never>,
): Promise<void> {
  const administrator = await addFirstAdministrator(db, config);
  const storages = Object.fromEntries(config.storages.map(({ name, path }) => [name, path]));
  await settleReferenceUpdates({ db, url: config.url, storages }).catch((error) => log.error({ err: error }, 'settling failed'));
  const app = await buildApp({ config, db, log });
  try {
    await listen(app, config, log);
    process.stdout.write(
      administrator ? welcome(config.url, administrator) : `Coppice is ready at ${config.url}. Ctrl-C stops it.\n`,
    );
    await Promise.race([stop.first, lost]);
    process.stdout.write('Coppice is stopping.\n');
  } finally {
    await close(app, stop);
    await closeReaders();
  }
}

/** Fastify says that it listens; we say it in the block for people, before the first line of the log. */
async function listen(app: FastifyInstance, { host, port, logLevel }: Config, log: Logger): Promise<void> {
  log.level = 'silent';
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenProblem(error as NodeJS.ErrnoException, host, port);
  } finally {
    log.level = logLevel;
  }
}

function listenProblem(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `${host}, port ${port}`;
  if (error.code === 'EADDRINUSE')
    return new OperatorError(`Another program listens on ${address}. Set COPPICE_PORT to another number.`);
  if (error.code === 'EACCES')
    return new OperatorError(`This account may not listen on ${address}. Set COPPICE_PORT to 1024 or more.`);
  if (error.code === 'EADDRNOTAVAIL')
    return new OperatorError(`This machine does not have the address of COPPICE_HOST, ${host}.`);
  if (error.code === 'ENOTFOUND') return new OperatorError(`COPPICE_HOST, ${host}, has no address.`);
  return error;
}

/** Stops accepting, waits for the requests under way, and cuts off those that take too long. */
async function close(app: FastifyInstance, stop: StopRequest): Promise<void> {
  const closed = app.close();
  await Promise.race([closed, stop.second, sleep(drainTimeout_ms, undefined, { ref: false })]);
  app.server.closeAllConnections();
  await closed;
}
