/** The handshake: a secondary reads the facts about its primary, and proves that it has the same secret key. */
import { installedVersion } from '../../../foundation/installation.ts';
import { geoRoute, type LinkedNode } from './definition.ts';
import { schemaVersion } from './queries.ts';

export interface Handshake {
  node: Omit<LinkedNode, 'credential'>;
  /** The sealed credential of the node as stored in the table, in base64; null if it was lost. */
  credential: string | null;
  /** The version of the product. */
  version: string;
  schema: string;
  /** The time of the primary, ISO 8601. */
  time: string;
  /** The names of the storages of the primary. */
  storages: string[];
}

/** A site with another secret key cannot sign the request, so the response needs no digest of the key. */
export const handshakeRoute = geoRoute({
  method: 'GET',
  path: '/handshake',
  handle: async ({ services, node: { credential, ...node } }): Promise<Handshake> => ({
    node,
    credential: credential?.toString('base64') ?? null,
    version: installedVersion,
    schema: await schemaVersion(services.db),
    time: new Date().toISOString(),
    storages: Object.keys(services.storages),
  }),
});
