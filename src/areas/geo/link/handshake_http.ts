/** The handshake: what a secondary learns about its primary, and that it has the same secret key. */
import { installedVersion } from '../../../foundation/installation.ts';
import { geoRoute, type LinkedNode } from './definition.ts';
import { schemaVersion } from './queries.ts';

export interface Handshake {
  node: Omit<LinkedNode, 'credential'>;
  /** Of the node, as the table keeps it, in base64; null where it was lost. */
  credential: string | null;
  /** Of the product. */
  version: string;
  schema: string;
  /** Of the primary, ISO 8601. */
  time: string;
  /** The names of the storages of the primary. */
  storages: string[];
}

/** Whoever has another secret key cannot sign for it, so the answer needs no digest of the key. */
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
