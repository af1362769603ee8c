/** The routes of a primary for its secondaries, below `/api/v4/geo/`; the areas of the district declare them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Selectable } from 'kysely';
import type { DB } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';

export type LinkedNode = Selectable<DB['geo_nodes']>;

export interface GeoRequest<Params = unknown> {
  Params: Params;
  Querystring: Record<string, unknown>;
}

export interface GeoCall<Params = unknown> {
  services: Services;
  /** The secondary that sent the request, as stored in the database. */
  node: LinkedNode;
  request: FastifyRequest<GeoRequest<Params>>;
  reply: FastifyReply;
  /** The signed body of the request; empty without one. */
  body: Buffer;
}

export interface GeoRoute<Params = unknown> {
  method: 'GET' | 'POST';
  /** The path below `/api/v4/geo`, with parameters as in the paths of endpoints: `/blobs/:key`. */
  path: string;
  /** The maximum length of the body, which is held in memory; 64 KiB if omitted. */
  most_bytes?: number;
  /** Replies through `reply`, which may stream, or returns a value to be sent as JSON. */
  handle(call: GeoCall<Params>): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: routes have parameters of different types, each checked where it is written.
export type AnyGeoRoute = GeoRoute<any>;

/** A route with the type of its parameters. */
export const geoRoute = <Params>(declared: GeoRoute<Params>): GeoRoute<Params> => declared;
