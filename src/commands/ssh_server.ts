/** Git over SSH in a process that answers requests. */
import type { Logger } from 'pino';
import { gitOverSsh } from '../areas/code/repository/index.ts';

import { sshAtPrimary } from '../areas/geo/serving/index.ts';
import { areaServices, gitKinds } from '../areas/index.ts';

import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import { secretsOf, servicesFor } from '../services/index.ts';
import { privateKeyText, type SshServer } from '../ssh/index.ts';

/**
 * The SSH server of a process; the library is loaded only when the port is on. The host key is derived from the secret key, so that all servers on one database,
 * and a restored one, have the same.
 */
export async function sshServerOf(config: Config, db: Database, log: Logger): Promise<SshServer> {
  if (config.sshPort === 0) return { take: (socket) => void socket.destroy(), close: async () => {} };
  const { sshServer } = await import('../ssh/server.ts');
  const hostKey = privateKeyText(secretsOf(config).signingKeyFor('ssh host key'));
  const { connectionsPerAddress } = config;
  const services = servicesFor(config, db, areaServices);
  const elsewhere = config.geo.role === 'secondary' ? sshAtPrimary(services) : undefined;
  return sshServer({
    hostKey,
    connectionsPerAddress,
    ...gitOverSsh({ services, kinds: gitKinds, log, elsewhere }),
  });
}
