/** The endpoint at which a secondary reports its status. */
import { badRequest, type Services } from '../../../http/index.ts';
import { type GeoRoute, geoRoute, type LinkedNode } from './definition.ts';

/**
 * Stores the status that a secondary reports.
 * @returns the primary's reply to it
 */
export type TakeStatus = (services: Services, node: LinkedNode, status: object) => Promise<object>;

function read(body: Buffer): object {
  try {
    const status: unknown = JSON.parse(body.toString());
    if (typeof status === 'object' && status !== null && !Array.isArray(status)) return status;
  } catch {} // reported below
  throw badRequest('The status is not an object in JSON.');
}

export const statusRoute = (take: TakeStatus): GeoRoute =>
  geoRoute({
    method: 'POST',
    path: '/status',
    handle: ({ services, node, body }) => take(services, node, read(body)),
  });
