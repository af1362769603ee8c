/**
 * What routes cost, which decides their rules: how fast bodies must come, and how long requests wait. No route can be added without one (docs/decisions/0133-a-route-says-what-it-costs.md).
 * How fast replies must be read is the same for all (`watchReplies`); what takes long has places where it is begun (`foundation/places.ts`).
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import { gitPatience_ms, type Queued } from './overload.ts';
import { type Paced, pushPace, uploadPace } from './pace.ts';

export const costs = {
  /** Bodies and replies are held in memory. */
  usual: {},
  /** The reply is a file, an archive or a page of any length, which is read at the pace of the client. */
  stream: {},
  /** The body has files, or is large. */
  upload: { pace: uploadPace },
  /** Clients of git do not repeat what is refused. */
  git: { patience_ms: gitPatience_ms },
  /** The client has done its work already. */
  push: { pace: pushPace, urgent: true },
  /** A large file, which is a part of a push. */
  transfer: { pace: uploadPace, urgent: true },
  /** Supervisors ask. */
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

/** Keeps a server from starting that has a route without a cost. */
export function requireCosts(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  const known = new Map<string, Cost>();
  app.decorate('routeCosts', known);
  app.addHook('onRoute', (route) => {
    // The plugin of CORS answers them.
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
