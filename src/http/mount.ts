/** Turns endpoints into routes: authenticate, check access, read the input, handle, reply. */
import { createHash, hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TProperties } from 'typebox';
import { nextTurn } from '../foundation/loop_turns.ts';
import type { Services } from '../services/index.ts';
import { admit, fieldsThatMayIdentify } from './admission.ts';
import { anonymousBody_bytes, longTextBody_bytes, type ReadBody, UnreadBody, usualBody_bytes } from './body.ts';
import { compressionOf } from './compression.ts';
import { type Cost, costing } from './costs.ts';
import {
  type AccessCall,
  type AnyEndpoint,
  type Authenticating,
  type Caller,
  type Counting,
  isReading,
  type Method,
} from './endpoint.ts';
import { Moved, notFound } from './errors.ts';
import { readForm, type Values } from './form.ts';
import { leavingOf } from './leaving.ts';
import { type Linking, locationOf, pageHeaders } from './links.ts';
import { originFor } from './origin.ts';
import { isOffered, type PerformOptions, performerOf, routeOf } from './perform.ts';
import type { Headers, Page, Returns } from './reply.ts';
import { serialiser } from './serialise.ts';
import type { Reading } from './stored_file.ts';
import { listText } from './streamed_list.ts';
import { type Marked, marks } from './types.ts';
import { refuseUnknown } from './unknown_paths.ts';
import { discardAll, filesIn, mostBytes, type TakesFiles } from './upload.ts';

export interface MountOptions extends PerformOptions {
  /** Identifies the caller from the headers and parameters of a request. */
  authenticate(
    request: FastifyRequest,
    parameters: Values,
    services: Services,
    endpoint: Authenticating,
  ): Promise<Caller | undefined>;
  /** Applies rate limits, if enabled; the headers are part of every reply. */
  countRequest(services: Services, endpoint: AnyEndpoint, counting: Counting): Promise<Headers>;
  /** Called with every JSON reply before it is written; tests validate it against the schema. */
  inspectReply?(endpoint: AnyEndpoint, body: unknown): void;
}

/** The path of the version of the API that all endpoints live under. */
export const apiRoot = '/api/v4';

/** Success status of an endpoint (docs/api.md). */
export function statusOf(method: Method, returns: Returns<unknown>): number {
  return returns.status ?? (returns.kind === 'nothing' ? 204 : method === 'POST' ? 201 : 200);
}

/** The member that keeps the error of an unreadable query string. */
const refusedQuery = Symbol('refused query');

/** Query, body and path as one set of parameters; the path wins over the body, the body over the query. */
function parametersOf(request: FastifyRequest, fields: Values): Values {
  const { query } = request as { query: Values & { [refusedQuery]?: Error } };
  if (query[refusedQuery]) throw query[refusedQuery];
  return Object.assign(Object.create(null), query, fields, request.params) as Values;
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

function unmodifiedSince(request: FastifyRequest): Date | undefined {
  const header = request.headers['if-unmodified-since'];
  const moment = header === undefined ? undefined : new Date(header);
  return moment === undefined || Number.isNaN(moment.getTime()) ? undefined : moment;
}

const asItIs = (text: string) => text;

async function tagOf(payload: string | Buffer[]): Promise<string> {
  if (typeof payload === 'string') return hash('sha1', payload);
  const digest = createHash('sha1');
  for (const piece of payload) {
    digest.update(piece);
    await nextTurn();
  }
  return digest.digest('hex');
}

const jsonReply = (reply: FastifyReply, status: number): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json')
    .header('cache-control', 'max-age=0, private, must-revalidate');

async function* none(): AsyncGenerator<never> {}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  payload: string | Buffer[],
): Promise<FastifyReply> {
  jsonReply(reply, status);
  if (status === 200 && isReading(request.method as Method)) {
    const tag = `W/"${await tagOf(payload)}"`;
    reply.header('etag', tag);
    if (request.headers['if-none-match'] === tag) return reply.code(304).removeHeader('content-type').send();
  }
  if (typeof payload !== 'string') {
    reply.header('content-length', String(payload.reduce((sum, { length }) => sum + length, 0)));
    return reply.send(Readable.from(payload));
  }
  // Fastify would add a charset to the type of a text.
  return reply.serializer(asItIs).send(payload);
}

/** Redirects reading requests of projects to the same call by id; others are refused, because clients would repeat them as a GET. Old paths of groups are not followed. */
function answerMoved(moved: Moved, { request, url: external }: Linking, reply: FastifyReply): FastifyReply {
  if (moved.kind === 'group') throw notFound('Group');
  if (!isReading(request.method as Method)) throw moved;
  const rest = request.url.slice(apiRoot.length).replace(/^\/[^/]+\/[^/?]+/, '');
  const url = locationOf(`${originFor(request, external)}${apiRoot}${moved.path}${rest}`);
  return reply
    .code(301)
    .headers({ location: url, 'content-type': 'text/plain' })
    .send(`This resource has been moved permanently to ${url}`);
}

type RightsVersion = AccessCall['rightsVersion'];

function routeHandler(endpoint: AnyEndpoint, options: MountOptions) {
  const { services } = options;
  const { blobs } = services;
  const { grant, run } = performerOf(endpoint, options);
  const { chosen } = endpoint.returns;
  const write = endpoint.returns.schema && serialiser(endpoint.returns.schema);
  const writeItem = endpoint.returns.item && serialiser(endpoint.returns.item);
  const status = statusOf(endpoint.method, endpoint.returns);
  const maximum_bytes = bodyLimitOf(endpoint);
  const fileParameters = filesIn((endpoint.input ?? {}) as TProperties);
  const { rotation, deploy_tokens, operation } = endpoint;
  const accepted = { operation, ...(rotation && { rotation }), ...(deploy_tokens && { deploy_tokens }) };

  const readBody = async ({ body }: FastifyRequest, caller: Caller | undefined): Promise<ReadBody> => {
    if (!(body instanceof UnreadBody)) return { fields: {} };
    const files = await Promise.all(
      fileParameters.map(async (file) => ({ ...file, at_most_bytes: await mostBytes(services.db, file) })),
    );
    return body.read({ at_most_bytes: caller ? maximum_bytes : anonymousBody_bytes, blobs, files });
  };

  /** The caller, or the user that an administrator names in the body (sudo). */
  const identify = async (
    request: FastifyRequest,
    reply: FastifyReply,
    rightsVersion: RightsVersion,
  ): Promise<Caller | undefined> => {
    const credentials = { ...accepted, rightsVersion };
    const early = parametersOf(request, await fieldsThatMayIdentify(request, { blobs }));
    const caller = await admit(reply, {
      identify: () => options.authenticate(request, early, services, credentials),
      count: (caller) => options.countRequest(services, endpoint, { caller, address: request.ip, parameters: early }),
    });
    if (!mayNameUserInBody(request, caller)) return caller;
    const { fields } = await readBody(request, caller);
    return fields.sudo ? options.authenticate(request, parametersOf(request, fields), services, credentials) : caller;
  };

  return async (request: FastifyRequest, reply: FastifyReply) => {
    let version: Promise<string> | undefined;
    const rightsVersion = () => (version ??= options.rightsVersion(services.db));
    const caller = await identify(request, reply, rightsVersion);
    const granted = await grant({ caller, params: request.params as Record<string, string>, rightsVersion });
    const { plan } = granted;
    const { fields, files = [] } = await readBody(request, caller);
    try {
      const parameters = parametersOf(request, fields);
      const sent_from = { address: request.ip, user_agent: request.headers['user-agent'] };
      const unmodified_since = endpoint.conditional && unmodifiedSince(request);
      const conditions = {
        unmodified_since,
        sent_from,
        query: queryOf(request.url),
        reading: request.headers as Reading,
        left: leavingOf(reply),
      };
      const result = await run(granted, parameters, conditions, request.headers);
      const { body, headers, status: own = status } = endpoint.returns.parts(result);
      if (headers) reply.headers(headers);
      if (endpoint.returns.kind === 'page')
        reply.headers(pageHeaders({ request, url: services.url }, parameters, result as Page<unknown>));
      if (endpoint.returns.kind === 'bytes') return reply.code(own).send(body);
      if (!write) return reply.code(status).send();
      if (writeItem) {
        const inspected = (item: unknown) => {
          options.inspectReply?.(endpoint, [item]);
          return writeItem(item, plan);
        };
        // Reading the whole stream only for its headers would be wasted work.
        const items = request.method === 'HEAD' ? none() : (body as AsyncIterable<unknown>);
        return jsonReply(reply, own).send(Readable.from(listText(items, inspected)));
      }
      options.inspectReply?.(endpoint, body);
      const writeThis = chosen ? serialiser(chosen(result)) : write;
      return send(request, reply, own, await writeThis(body, plan));
    } finally {
      await discardAll(files);
    }
  };
}

const mayNameUserInBody = ({ body }: FastifyRequest, caller: Caller | undefined): boolean =>
  body instanceof UnreadBody && !body.takesFiles && caller?.sudo === false && caller.token.scopes.includes('sudo');

/** The largest body that an endpoint takes. */
function bodyLimitOf({ input = {}, body_limit_bytes }: AnyEndpoint): number {
  const isLong = Object.values(input as TProperties).some((schema) => (schema as Marked)[marks]?.long);
  return body_limit_bytes ?? (isLong ? longTextBody_bytes : usualBody_bytes);
}

/** Names the end of a path with a `*name`, since the router does not support names there. */
function withRestNamed(request: FastifyRequest, { path }: AnyEndpoint): FastifyRequest {
  const [, name] = /\*(\w+)$/.exec(path) ?? [];
  if (name === undefined) return request;
  const { '*': rest, ...others } = request.params as Record<string, string>;
  request.params = { ...others, [name]: rest };
  return request;
}

function configOf({ input = {}, body_limit_bytes, returns }: AnyEndpoint): TakesFiles & { cost: Cost } {
  const takes_files = filesIn(input as TProperties).length > 0;
  const isStream = returns.kind === 'bytes' || returns.item !== undefined;
  const cost = takes_files || body_limit_bytes ? 'upload' : isStream ? 'stream' : 'usual';
  return { takes_files, ...costing(cost) };
}

/**
 * Adds the routes of `endpoints` to `app`. Explicit HEAD endpoints win over the HEAD that every GET answers.
 */
export function mount(app: FastifyInstance, endpoints: readonly AnyEndpoint[], options: MountOptions): void {
  const here = endpoints.filter((endpoint) => isOffered(endpoint, options.offering) || endpoint.elsewhere);
  const heads = new Set(here.filter((endpoint) => endpoint.method === 'HEAD').map((endpoint) => endpoint.path));
  for (const endpoint of here) {
    const handle = routeHandler(endpoint, options);
    app.route({
      method: endpoint.method,
      url: apiRoot + routeOf(endpoint.path),
      exposeHeadRoute: !heads.has(endpoint.path),
      config: configOf(endpoint),
      ...compressionOf(endpoint),
      handler: (request, reply) =>
        handle(withRestNamed(request, endpoint), reply).catch((error: unknown) => {
          if (error instanceof Moved) return answerMoved(error, { request, url: options.services.url }, reply);
          throw error;
        }),
    });
  }
  refuseUnknown(app, apiRoot, here);
}

/** The query string reader of the server. */
export function readQuery(text: string): Values {
  try {
    return readForm(text);
  } catch (error) {
    // The router calls this before any handler could reply, so the refusal waits until the parameters are read.
    return { [refusedQuery]: error };
  }
}
