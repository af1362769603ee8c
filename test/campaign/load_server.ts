/** The server that load is put on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Client, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { environmentFor, type Instance, startInstance } from '../support/instance.ts';

/** @param more of its environment */
export async function started(
  // All requests come from one.
  more: Record<string, string> = { COPPICE_CONNECTIONS_PER_ADDRESS: '100000' },
): Promise<{ instance: Instance; url: string; api: Client }> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-campaign-'));
  atFileEnd(() => rm(data, { recursive: true, force: true }));
  const environment = await environmentFor(data, 'load-token-for-one-run-only');
  Object.assign(environment, more);
  const instance = await startInstance(environment);
  atFileEnd(instance.stop);
  return {
    instance,
    url: environment.COPPICE_URL,
    api: clientOf(`${environment.COPPICE_URL}/api/v4`, environment.COPPICE_ROOT_TOKEN),
  };
}
