/** Metrics for Prometheus: the duration of requests, and the resources that they wait for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
} from 'prom-client';
import { waitingIn } from './areas/ci/jobs/index.ts';
import { ciState, standingPipelines } from './areas/ci/running/index.ts';
import { indexState } from './areas/code/code_search/index.ts';
import { passing } from './areas/geo/serving/index.ts';
import { nodes } from './areas/instance/nodes/index.ts';
import { type Database, poolLoad } from './db/index.ts';
import { gitLoad } from './git/index.ts';
import { ApiError, type Doorway, door, jsonForm, notFound } from './http/index.ts';
import type { RequestQueue } from './http/request_queue.ts';

/** From a cached reply to a large clone. */
const buckets_s = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600];

/** The metrics of one process, in a form that can be summed. */
export type Measured = MetricObject[];

/**
 * The metrics of this process: memory, processor, database connections and git.
 * @param db its pool is measured
 */
export function newRegistry(db: Database): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'coppice_database_connections', 'Connections of the pool, and requests that wait for one', (set) => {
    const { in_use, idle, waiting } = poolLoad(db);
    set('in_use', in_use);
    set('idle', idle);
    set('waiting', waiting);
  });
  gauge(
    registry,
    'coppice_git_processes',
    'Running git processes, all started so far, and short commands that wait',
    (set) => {
      const { running, started, waiting } = gitLoad();
      set('running', running);
      set('started', started);
      set('waiting', waiting);
    },
  );
  return registry;
}

/** Reports the numbers of running, waiting and refused requests. */
export function measureQueue(registry: Registry, queue: RequestQueue): void {
  gauge(
    registry,
    'coppice_requests',
    'Requests that are worked on or queued, and the most that are worked on at once',
    (set) => {
      const { working, waiting, at_once } = queue.load;
      set('working', working);
      set('waiting', waiting);
      set('at_once', at_once);
    },
  );
  new Counter({
    name: 'coppice_refused_requests_total',
    help: 'Requests refused with 503 because the server was too busy',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(queue.load.refused);
    },
  });
}

type Set = (state: string, value: number) => void;

function gauge(registry: Registry, name: string, help: string, collect: (set: Set) => void | Promise<void>): void {
  new Gauge({
    name,
    help,
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      await collect((state, value) => this.set({ state }, value));
    },
  });
}

/** Adds the length of the job queue, which only one of several processes reports. */
export function watchJobs(registry: Registry, db: Database): void {
  gauge(registry, 'coppice_jobs', 'Jobs of the queue', async (set) => {
    const { rows } = await sql<{ state: string; count: number }>`
      select state, count(job.id)::int as count
        from unnest(array['running', 'waiting', 'scheduled', 'failed']) state
        left join (select id, case when locked_at is not null then 'running' when attempts >= max_attempts then 'failed'
                                   when run_at > now() then 'scheduled' else 'waiting' end as is_in
                     from graphile_worker._private_jobs) job on job.is_in = state
       group by state`
      .execute(db)
      .catch(() => ({ rows: [] })); // While the database is away, the other metrics matter even more.
    for (const { state, count } of rows) set(state, count);
  });
}

/** Adds what runners have to do, which only one of several processes reports. */
export function watchPipelines(registry: Registry, db: Database): void {
  const state = () => ciState(db).catch(() => undefined);
  gauge(registry, 'coppice_ci_jobs', 'Jobs of pipelines that wait for runners, and that runners hold', async (set) => {
    const { pending = 0, running = 0, silent = 0 } = (await state()) ?? {};
    for (const [name, count] of Object.entries({ pending, running, silent })) set(name, count);
  });
  new Gauge({
    name: 'coppice_ci_oldest_pending_seconds',
    help: 'How long the job has waited for a runner that has waited longest',
    registers: [registry],
    async collect() {
      this.set((await state())?.oldest_s ?? 0);
    },
  });
  new Gauge({
    name: 'coppice_ci_standing_pipelines',
    help: 'Pipelines that stand still although they could go on',
    registers: [registry],
    async collect() {
      this.set((await standingPipelines(db, 1_000).catch(() => [])).length);
    },
  });
}

/** Adds the number of processes of the site, which only one of several processes reports. */
export function watchNodes(registry: Registry, db: Database): void {
  new Gauge({
    name: 'coppice_nodes',
    help: 'Servers and job processes of the site, by version and by whether they have said in the last 30 seconds that they run',
    labelNames: ['version', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      const found = await nodes(db)
        .execute()
        .catch(() => []);
      for (const { version, running } of found) this.inc({ version, state: running ? 'running' : 'silent' });
    },
  });
}

/** Adds the number of storage moves, which only one of several processes reports. */
export function watchStorageMoves(registry: Registry, db: Database): void {
  new Gauge({
    name: 'coppice_storage_moves',
    help: 'Storage moves of each kind',
    labelNames: ['kind', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      const { rows } = await sql<{ kind: string; state: string; count: number }>`
        select case when project_id is not null then 'project' when snippet_id is not null then 'snippet' else 'group' end as kind, state, count(*)::int as count
          from repository_storage_moves group by 1, 2`
        .execute(db)
        .catch(() => ({ rows: [] }));
      for (const { kind, state, count } of rows) this.set({ kind, state }, count);
    },
  });
}

/** Adds the progress of the code index, which only one of several processes reports. */
export function watchCodeIndex(registry: Registry, db: Database): void {
  const state = () => indexState(db).catch(() => undefined);
  new Gauge({
    name: 'coppice_code_index_bytes',
    help: 'What the index of code takes in the database',
    registers: [registry],
    async collect() {
      this.set((await state())?.bytes ?? 0);
    },
  });
  new Gauge({
    name: 'coppice_code_index_projects',
    help: 'Projects with code, by the state of their index',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      const { indexed = 0, behind = 0, failed = 0 } = (await state()) ?? {};
      for (const [name, count] of Object.entries({ indexed, behind, failed })) this.set({ state: name }, count);
    },
  });
}

interface SiteRow {
  node: string;
  lag_seconds: number | null;
  events_behind_seconds: number | null;
  /** By replicable; null on a primary. */
  counts: Record<string, Record<'synced_count' | 'failed_count' | 'registry_count', number | null>>;
}

/** The last report of each site of Geo, which is the same on all of them. */
async function reportedSites(db: Database): Promise<SiteRow[]> {
  const { rows } = await sql<SiteRow>`
    select name as node, status->'counts' as counts, (status->>'db_replication_lag_seconds')::float8 as lag_seconds,
           (status->>'events_behind_seconds')::float8 as events_behind_seconds
      from geo_statuses join geo_nodes on geo_nodes.id = geo_node_id where not "primary"`
    .execute(db)
    .catch(() => ({ rows: [] }));
  return rows;
}

/** Reports the state of the secondaries of Geo, at any site. */
export function watchSites(registry: Registry, db: Database): void {
  const each = (name: string, help: string, secondsOf: (row: SiteRow) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['node'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const row of await reportedSites(db)) {
          const value = secondsOf(row);
          if (value !== null) this.set({ node: row.node }, value);
        }
      },
    });
  each('coppice_geo_lag_seconds', 'How far the database of a secondary is behind', ({ lag_seconds }) => lag_seconds);
  each(
    'coppice_geo_events_behind_seconds',
    'How far the copies of a secondary are behind',
    (row) => row.events_behind_seconds,
  );
  new Gauge({
    name: 'coppice_geo_replicas',
    help: 'Copies of a secondary',
    labelNames: ['node', 'replicable', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { node, counts } of await reportedSites(db))
        for (const [replicable, { synced_count, failed_count, registry_count }] of Object.entries(counts)) {
          const [synced, failed, all] = [synced_count ?? 0, failed_count ?? 0, registry_count ?? 0];
          this.set({ node, replicable, state: 'synced' }, synced);
          this.set({ node, replicable, state: 'failed' }, failed);
          this.set({ node, replicable, state: 'waiting' }, all - synced - failed);
        }
    },
  });
}

/** Reports the number of requests that this process has passed on to the primary. */
export function measurePassing(registry: Registry): void {
  new Counter({
    name: 'coppice_geo_passed_requests_total',
    help: 'Requests that were passed on to the primary',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(passing.count);
    },
  });
}

/** Counts the requests of runners that wait in this process. */
export function measureWaiting(registry: Registry, db: Database): void {
  new Gauge({
    name: 'coppice_ci_waiting_requests',
    help: 'Requests of runners that wait for a job',
    registers: [registry],
    collect() {
      this.set(waitingIn(db));
    },
  });
}

/** Measures requests by route, so that the number of series does not depend on the requested paths. */
export function measureRequests(app: FastifyInstance, registry: Registry): void {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its reply',
    labelNames: ['method', 'route', 'status'],
    buckets: buckets_s,
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    duration.observe(
      { method, route: routeOptions.url ?? 'unknown', status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
    done();
  });
}

/** Text for Prometheus; for several processes the sums of their metrics. */
export const asText = (measured: Measured[]): Promise<string> => AggregatorRegistry.aggregate(measured).metrics();

export interface MetricsOptions {
  /** Requests with this bearer token are allowed from anywhere. */
  token: string | undefined;
  gather(): Promise<string>;
}

/** `/-/metrics` for requests from this machine or with the token; others get 404. */
export const metricsDoorway = ({ token, gather }: MetricsOptions): Doorway => ({
  cost: 'health',
  doors: [
    door({
      method: 'GET',
      url: '/-/metrics',
      handle: async ({ request, reply }) => {
        const given = /^Bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1];
        if (given !== undefined ? token === undefined || !isSame(given, token) : !isLocal(request))
          throw refusal(given);
        return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await gather());
      },
    }),
  ],
  errors: () => jsonForm,
});

const refusal = (given: string | undefined) =>
  given === undefined ? notFound('Page') : new ApiError(401, { message: '401 Unauthorized' });

const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));
const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Behind a proxy on this machine, every request comes from this machine. A trusted proxy names its client; any other proxy is recognized by its headers or by
 * the host name of the request.
 */
function isLocal({ ip, hostname, headers, socket }: FastifyRequest): boolean {
  const isForwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
  return isLoopback(ip) && isLoopback(socket.remoteAddress ?? '') && isLoopback(hostname) && !isForwarded;
}

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/^::ffff:/, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost';
}
