/** Builds the HTTP server with all its endpoints and doors. */
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import {
  addressRefused,
  authenticate,
  countRequest,
  planForAnonymous,
  type Reach,
  reachOf,
  rightsVersion,
} from './access/index.ts';
import { artifactDoorway } from './areas/ci/artifacts/index.ts';
import { jobDoorways } from './areas/ci/jobs/index.ts';
import { runnerDoorway } from './areas/ci/runners/index.ts';
import { terraformStateDoorway } from './areas/ci/terraform_states/index.ts';
import { triggerDoorway } from './areas/ci/triggers/index.ts';
import { lfsDoorways, lfsUrl } from './areas/code/lfs/index.ts';
import { gitDoorway, gitUrl } from './areas/code/repository/index.ts';
import { uploadDoorway, uploadUrl } from './areas/conversation/uploads/index.ts';
import { unleashDoorway } from './areas/deployments/feature_flags/index.ts';
import { copyProblem, databaseUpgrade } from './areas/geo/following/index.ts';
import { geoDoorway } from './areas/geo/link/index.ts';
import { primacyDoorway } from './areas/geo/promotion/index.ts';
import { blobsOfBothSites, serveAsSite, siteHeaders } from './areas/geo/serving/index.ts';
import { areaServices, documented, endpoints, geoRoutes, gitKinds, pageEndpoints } from './areas/index.ts';
import { pictureDoorway } from './areas/instance/appearance/index.ts';
import { logAuditEvents } from './areas/instance/audit_events/index.ts';
import { proxiedPictureDoorway } from './areas/instance/pictures/index.ts';
import { pagesDoorway } from './areas/pages.ts';
import { avatarDoorway } from './areas/people/avatars/index.ts';
import { emailPages } from './areas/people/emails/index.ts';
import { oauthDoorway } from './areas/people/openid/index.ts';
import { providerDoorway } from './areas/people/providers/index.ts';
import { scimDoorway } from './areas/people/scim/index.ts';
import { invitationPages } from './areas/spaces/invitations/index.ts';
import { chunkDoorway, collectorDoorway, sentryDoorway } from './areas/work/error_tracking/index.ts';
import { notificationPages } from './areas/work/issuables/index.ts';
import { metricImageDoorway } from './areas/work/issues/index.ts';
import { prepareReleaseOfJob } from './areas/work/releases/index.ts';
import type { Config } from './config.ts';
import type { Database } from './db/index.ts';
import { workFor } from './foundation/clients.ts';
import { sourceOf } from './foundation/source_of.ts';
import { deferBodies } from './http/body.ts';
import { offerCompression } from './http/compression.ts';
import { limitConnections } from './http/connections.ts';
import { requireCosts } from './http/costs.ts';
import { documentation } from './http/documentation.ts';
import { openDoorway } from './http/door.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { answeringIn, jsonForm, refuseUnreadable } from './http/error_replies.ts';
import type { ApiError } from './http/errors.ts';
import { health } from './http/health.ts';
import { mount, readQuery } from './http/mount.ts';
import { refuseRepeatedHosts } from './http/origin.ts';
import { Outage } from './http/outage.ts';
import { type LoadMeter, shedLoad } from './http/overload.ts';
import { watchPace, watchReplies } from './http/pace.ts';
import { asksForUpgrade, takeUpgrades } from './http/upgrades.ts';
import { measurePassing, measureQueue, measureRequests, measureWaiting, metricsDoorway } from './metrics.ts';
import { readAssets, unreadableForm } from './pages/index.ts';
import { type AreaServices, type Services, servicesFor } from './services/index.ts';

export interface AppOptions {
  config: Config;
  db: Database;
  log: Logger;
  /** The metrics to record and how to report them, for this process alone or for several. If omitted, nothing is measured. */
  metrics?: { registry: Registry; gather(): Promise<string> };
  /** Measures the load, to refuse requests under overload. If omitted, no requests are refused: the clients of a test share the event loop of the server. */
  isDelayed?: LoadMeter;
  /** Called with every JSON reply before it is written; tests validate it against the schema. */
  inspectReply?(endpoint: AnyEndpoint, body: unknown): void;
  /** Called with every error that a handler throws; tests compare it with the declared refusals. */
  inspectRefusal?(endpoint: AnyEndpoint, refusal: ApiError): void;
  /** What the services take from the areas, if not what `areas/index.ts` says; tests inspect the bodies for webhooks. */
  areas?: AreaServices;
}

const answerError = answeringIn(jsonForm);

/** Longest URL: file paths of many levels come percent-encoded in one segment. */
const urlLimit_bytes = 64 * 1024;

/** The time limit for the head of a request, also on a connection that was idle before. */
const headTimeout_ms = 30_000;

/** The headers that scripts of other origins may read: those of all replies, of pages and limits, and those that endpoints declare. */
const exposedHeaders = [
  ...'Content-Disposition Content-Range ETag Link Location Retry-After WWW-Authenticate X-Request-Id X-Runtime X-Total X-Total-Pages X-Per-Page X-Page X-Next-Page X-Prev-Page'.split(
    ' ',
  ),
  ...['Limit', 'Name', 'Observed', 'Remaining', 'Reset', 'ResetTime'].map((name) => `RateLimit-${name}`),
  ...siteHeaders,
  ...new Set(endpoints.flatMap(({ returns }) => Object.keys(returns.headers ?? {}))),
];

/** Request ids from a proxy or client are kept when they have the form of an id. */
const requestId = (headers: Record<string, string | string[] | undefined>) => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{8,128}$/.test(given) ? given : crypto.randomUUID();
};

const commonHeaders = ({ id }: FastifyRequest) => ({
  'x-request-id': id,
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff',
});

// Hooks with a callback: each `async` one would cost every request a promise and a turn of the queue.
function addCommonHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request));
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('x-runtime', (reply.elapsedTime / 1000).toFixed(6));
    done();
  });
}

/** A path in the form in which it is logged, without the tokens in links and the secrets of uploads. */
const withoutTokens = (path: string) =>
  (path.startsWith('/-/') ? path.replaceAll(/(?<![\w-])[\w-]{43}(?![\w-])/g, ':token') : path).replace(
    /\/uploads\/[0-9a-f]{32}\//,
    '/uploads/:secret/',
  );

/** Logs one line per request: method, path without its query (which may contain a token), status and time. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, originalUrl, ip } = request;
    const duration_ms = Math.round(reply.elapsedTime * 10) / 10;
    request.log.info(
      {
        method,
        path: withoutTokens(originalUrl.split('?', 1)[0]!),
        status: reply.statusCode,
        duration_ms,
        address: ip,
      },
      'request',
    );
    done();
  });
}

/** python-gitlab requests `/api/v4/features//name`; the public server reads several slashes as one. */
const withSingleSlashes = (url: string) =>
  url.startsWith('/api/') && url.includes('//')
    ? url.replace(/^[^?]*/, (path) => path.replaceAll(/\/{2,}/g, '/'))
    : url;

/**
 * Builds the server, ready to listen.
 * @param options the configuration, the database (migrated), and where log lines go
 */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, db, log, metrics, isDelayed, inspectReply, inspectRefusal } = options;
  const answerUnreadable = answeringIn(unreadableForm(config));
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    genReqId: ({ headers }) => requestId(headers),
    requestIdHeader: false,
    rewriteUrl: ({ url = '/' }) => uploadUrl(lfsUrl(gitUrl(withSingleSlashes(url)))),
    http: {
      maxHeaderSize: urlLimit_bytes + 16 * 1024,
      headersTimeout: headTimeout_ms,
      connectionsCheckingInterval: 5000,
      shouldUpgradeCallback: asksForUpgrade,
    },
    clientErrorHandler: refuseUnreadable,
    routerOptions: { maxParamLength: urlLimit_bytes, ignoreTrailingSlash: true, querystringParser: readQuery },
    // The hooks have not run.
    frameworkErrors: (error, request, reply) =>
      void answerUnreadable(error, request, reply.headers(commonHeaders(request))),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;
  const services = servicesOf(config, db, options.areas ?? areaServices);
  app.decorate('outage', new Outage(db, log));
  logAuditEvents(db, log);
  app.setErrorHandler(answerError);
  requireCosts(app);
  limitConnections(app, {
    most: Math.ceil(config.connectionsPerAddress / config.processes),
    trustedProxies: config.trustedProxies,
  });
  deferBodies(app);
  refuseRepeatedHosts(app);
  watchPace(app);
  watchReplies(app);
  addCommonHeaders(app);
  logRequests(app);
  if (metrics) {
    measureRequests(app, metrics.registry);
    measureWaiting(metrics.registry, db);
    if (config.geo.role === 'secondary') measurePassing(metrics.registry);
  }
  const corsFor = corsRules(new URL(config.url).origin);
  await app.register(cors, { delegator: (request, done) => done(null, corsFor(request)) });
  // Must run after the hook that sets the headers of every reply.
  if (isDelayed) {
    const queue = shedLoad(app, isDelayed, log);
    if (metrics) measureQueue(metrics.registry, queue);
  }
  // Must run after the queue, which starts the next request when another one has ended.
  app.addHook('onRequest', ({ ip, url }, _reply, done) => {
    const source = sourceOf(ip);
    const goOn = ({ is_admitted, hidden_groups }: Reach) => {
      if (!is_admitted && !isForOperators(url)) return done(addressRefused());
      workFor({ source, address: ip, hidden_groups }, done);
    };
    const reach = reachOf(db, ip);
    // Health and outages are told without a database.
    if (reach instanceof Promise) reach.then(goOn, () => workFor({ source }, done));
    else goOn(reach);
  });
  serveAsSite(app, services);
  await offerCompression(app);
  const performing = {
    services,
    planForAnonymous,
    rightsVersion,
    offering: config.offering,
    ...(inspectRefusal ? { inspectRefusal } : {}),
  };
  mount(app, endpoints, { ...performing, authenticate, countRequest, ...(inspectReply ? { inspectReply } : {}) });
  const assets = readAssets();
  const doorways = [
    gitDoorway(gitKinds),
    ...lfsDoorways,
    ...(config.offering === 'any' || config.offering === 'hosted'
      ? [collectorDoorway(intakeLimits(config)), sentryDoorway, chunkDoorway]
      : []),
    artifactDoorway,
    terraformStateDoorway,
    unleashDoorway,
    triggerDoorway,
    runnerDoorway,
    ...jobDoorways(prepareReleaseOfJob),
    metricImageDoorway,
    avatarDoorway,
    pictureDoorway,
    proxiedPictureDoorway,
    uploadDoorway,
    emailPages,
    notificationPages,
    oauthDoorway,
    providerDoorway,
    scimDoorway,
    geoDoorway(geoRoutes),
    primacyDoorway,
    invitationPages,
    health(copyProblem),
    documentation(documented),
    assets.doorway,
    pagesDoorway({ ...performing, endpoints: [...endpoints, ...pageEndpoints], assets: assets.addresses }),
    ...(metrics ? [metricsDoorway({ token: config.metricsToken, gather: metrics.gather })] : []),
  ];
  takeUpgrades(app.server, databaseUpgrade(services, config.databaseUrl === undefined));
  for (const doorway of doorways) await openDoorway(app, services, doorway);
  return app;
}

function servicesOf(config: Config, db: Database, areas: AreaServices): Services {
  const services = servicesFor(config, db, areas);
  return config.geo.role === 'secondary'
    ? { ...services, blobs: blobsOfBothSites(services.blobs, services) }
    : services;
}

const intakeLimits = ({ data, ingestQueueMax, ingestMinFreeDisk_mb }: Config) => ({
  queue_max: ingestQueueMax,
  folder: data,
  min_free_disk_mb: ingestMinFreeDisk_mb,
});

/** Addresses below `/-/` that tell how the server is, which answer from everywhere. */
const isForOperators = (url: string): boolean => /^\/-\/(health|liveness|readiness|metrics)\b/.test(url);

/** Pages of our own origin may send cookies, those of others only tokens. Paths below `/-/`, for operators and browsers, are closed to scripts. */
function corsRules(ownOrigin: string) {
  const common = {
    exposedHeaders: exposedHeaders.join(', '),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    strictPreflight: false,
    maxAge: 86_400,
  };
  const [closed, own, foreign] = [
    { origin: false },
    { origin: true, credentials: true },
    { origin: '*', credentials: false },
  ].map((rule) => ({ ...common, ...rule }));
  return ({ url, headers }: FastifyRequest) =>
    /^\/(%2d|-)\//i.test(url) ? closed : headers.origin === ownOrigin ? own : foreign;
}
