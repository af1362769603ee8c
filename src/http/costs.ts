/**
 * The cost classes of routes, which decide how fast bodies must arrive and how long requests may wait. No route can be added without a cost
 * (docs/decisions/0133-a-route-says-what-it-costs.md). How fast replies must be read is the same for all (`watchReplies`); what takes long has places where it is
 * begun (`foundation/places.ts`).
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import { gitPatience_ms, type Queued } from './overload.ts';
import { type Paced, pushPace, uploadPace } from './pace.ts';

export const costs = {
  /** Bodies and replies are held in memory. */
  usual: {},
  /** The reply is a file, an archive or a page of any length, which is sent at the client's pace. */
  stream: {},
  /** The body has files, or is large. */
  upload: { pace: uploadPace },
  /** Clients of git do not retry refused requests. */
  git: { patience_ms: gitPatience_ms },
  /** The client has already done its work. */
  push: { pace: pushPace, urgent: true },
  /** A large file that is part of a push. */
  transfer: { pace: uploadPace, urgent: true },
  /** Requests of supervisors. */
  health: { urgent: true },
} as const satisfies Readonly<Record<string, Paced & Queued>>;

export type Cost = keyof typeof costs;

/** The configuration of a route. */
export const costing = (cost: Cost): Paced & Queued & { cost: Cost } => ({ cost, ...costs[cost] });

declare module 'fastify' {
  interface FastifyInstance {
    /** The cost of each route, by its method and path. */
    routeCosts: ReadonlyMap<string, Cost>;
  }
}

/** Keeps a server from starting if a route has no cost. */
export function requireCosts(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  const known = new Map<string, Cost>();
  app.decorate('routeCosts', known);
  app.addHook('onRoute', (route) => {
    // Answered by the CORS plugin.
    if (route.method === 'OPTIONS') route.config = { ...costing('usual'), ...route.config };
    routes.push(route);
  });
  app.addHook('onReady', (done) => {
    for (const { method, url, config } of routes) {
      const { cost } = (config ?? {}) as { cost?: Cost };
      if (cost === undefined) return done(new Error(`The route ${method} ${url} does not say what it costs.`));
      for (const each of [method].flat()) known.set(`${each} ${url}`, cost);
    }
    done();
  });
}
