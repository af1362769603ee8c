/** A secondary reports how it is. */
import { badRequest, type Services } from '../../../http/index.ts';
import { type GeoRoute, geoRoute, type LinkedNode } from './definition.ts';

/**
 * Stores what a secondary reports.
 * @returns what the primary wants of it
 */
export type TakeStatus = (services: Services, node: LinkedNode, status: object) => Promise<object>;

function read(body: Buffer): object {
  try {
    const status: unknown = JSON.parse(body.toString());
    if (typeof status === 'object' && status !== null && !Array.isArray(status)) return status;
  } catch {} // said below
  throw badRequest('The status is not an object in JSON.');
}

export const statusRoute = (take: TakeStatus): GeoRoute =>
  geoRoute({
    method: 'POST',
    path: '/status',
    handle: ({ services, node, body }) => take(services, node, read(body)),
  });
