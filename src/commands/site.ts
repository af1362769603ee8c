/** The first steps of a server, by its role in Geo. */
import type { Logger } from 'pino';
import { openTunnel, preparePrimary, prepareSecondary, type Tunnel } from '../areas/geo/following/index.ts';
import { isPromoted, successorOf } from '../areas/geo/promotion/index.ts';
import { type Config, ConfigError } from '../config.ts';
import { type Database, isUnavailable } from '../db/index.ts';
import { secretsOf } from '../services/index.ts';
import { refuseLostStorages } from './folders.ts';
import { claimInstance } from './instance.ts';

/** Whether requests only read the database: replication or another server writes to it. */
export const readsOnly = ({ geo }: Pick<Config, 'geo'>): boolean =>
  geo.role === 'secondary' || geo.successor !== undefined;

/**
 * Queries the current role of the site: a secondary may have been promoted, and a primary replaced.
 * @returns the configuration for the new role; undefined when the role is unchanged
 */
async function actualSite(config: Config, db: Database, log: Logger): Promise<Config | undefined> {
  const { geo } = config;
  if (geo.role === 'secondary')
    return (await isPromoted(db)) ? { ...config, geo: { ...geo, role: 'primary' } } : undefined;
  if (geo.role === undefined || geo.successor !== undefined) return undefined;
  const successor = await successorOf({ db, geo, secrets: secretsOf(config) });
  if (successor === undefined) return undefined;
  log.error(`${successor} was made the primary. This server only reads.`);
  return { ...config, geo: { ...geo, successor } };
}

/** A promotion is a command on the machine of the secondary; the primary asks over the network. */
const pauses_ms = { secondary: 1000, primary: 30_000 };

/** Polls until the role of the site has changed: `changed` then resolves to its configuration. */
function watchSite(config: Config, db: Database, log: Logger): { changed: Promise<Config>; end(): void } {
  const { promise: changed, resolve } = Promise.withResolvers<Config>();
  const { role } = config.geo;
  let timer: NodeJS.Timeout | undefined;
  let isOver = role === undefined;
  const lookLater = () => {
    if (!isOver && role !== undefined) timer = setTimeout(look, pauses_ms[role]).unref();
  };
  const look = async () => {
    try {
      const actual = await actualSite(config, db, log);
      if (actual) return resolve(actual);
    } catch (error) {
      if (!isUnavailable(error)) log.warn({ err: error }, 'cannot look whether this site is still what it was');
    }
    lookLater();
  };
  lookLater();
  const end = () => {
    isOver = true;
    clearTimeout(timer);
  };
  return { changed, end };
}

/**
 * Serves in the current role until the role changes.
 * @param work ends when `changed` resolves
 * @returns the configuration of the other site; undefined when the server was stopped
 */
export async function asSite(
  config: Config,
  db: Database,
  log: Logger,
  work: (changed: Promise<unknown>) => Promise<void>,
): Promise<Config | undefined> {
  const actual = await actualSite(config, db, log);
  if (actual) return actual;
  let next: Config | undefined;
  const { changed, end } = watchSite(config, db, log);
  try {
    await work(
      changed.then((other) => {
        next = other;
      }),
    );
    return next;
  } finally {
    end();
  }
}

/**
 * Sets the server up for its role. A secondary writes no claims to the database: its tables are those of the primary, which may name storages that the secondary
 * lacks.
 * @throws OperatorError, or ConfigError for a secondary that cannot be one of its primary
 */
export async function prepareSite(config: Config, db: Database): Promise<void> {
  const { geo } = config;
  const secrets = secretsOf(config);
  if (geo.role === 'secondary') {
    const problem = await prepareSecondary({ geo, secrets }, db);
    if (problem !== undefined) throw new ConfigError([problem]);
    return;
  }
  await refuseLostStorages(config, db);
  if (geo.successor !== undefined) return;
  await claimInstance(db, secrets);
  if (geo.role === 'primary') await preparePrimary(db, config.databaseUrl === undefined);
}

/** A secondary forwards its own PostgreSQL to the PostgreSQL of the primary, unless the operator has configured another route. */
export async function openTunnelOf(config: Config, db: Database, log: Logger): Promise<Tunnel | undefined> {
  const { geo, databaseUrl } = config;
  const isNeeded = geo.role === 'secondary' && geo.databaseUrl === undefined && databaseUrl === undefined;
  return isNeeded ? openTunnel({ geo, secrets: secretsOf(config) }, db, log) : undefined;
}
