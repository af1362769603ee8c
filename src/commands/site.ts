/** What a server does first, by its role in Geo. */
import type { Logger } from 'pino';
import { openTunnel, preparePrimary, prepareSecondary, type Tunnel } from '../areas/geo/following/index.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Database } from '../db/index.ts';
import { secretsOf } from '../services/index.ts';
import { refuseLostStorages } from './folders.ts';
import { claimInstance } from './instance.ts';

/**
 * Makes the server what its role says. A secondary claims nothing: its tables are those of the primary, which may know storages that it lacks.
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
  await claimInstance(db, secrets);
  if (geo.role === 'primary') await preparePrimary(db, config.databaseUrl === undefined);
}

/** A secondary leads its own PostgreSQL to that of the primary, unless the operator has told it another way. */
export async function openTunnelOf(config: Config, db: Database, log: Logger): Promise<Tunnel | undefined> {
  const { geo, databaseUrl } = config;
  const isNeeded = geo.role === 'secondary' && geo.databaseUrl === undefined && databaseUrl === undefined;
  return isNeeded ? openTunnel({ geo, secrets: secretsOf(config) }, db, log) : undefined;
}
