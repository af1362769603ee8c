/** For tests with clients that use the addresses in replies: a server whose external address is the one it listens at. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The environment of a server (`WorldOptions.environment`) that knows its own address, on a port that was free a moment ago.
 * @param host of the address; a name where a browser wants one
 */
export async function ownAddress(host = '127.0.0.1'): Promise<{ COPPICE_PORT: string; COPPICE_URL: string }> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return { COPPICE_PORT: String(port), COPPICE_URL: `http://${host}:${port}` };
}
