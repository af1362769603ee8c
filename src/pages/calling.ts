/** How pages run endpoints. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TProperties, TSchema } from 'typebox';
import { cookieOf, deviceOf, type Visitor } from '../access/index.ts';
import { type AnyEndpoint, ApiError, badParam, leavingOf, Moved, type Reading, type Values } from '../http/index.ts';
import { type Performer, type PerformOptions, pathParameters, performerOf } from '../http/perform.ts';
import { asUploaded, discardAll } from '../http/upload.ts';
import type { Operation, PageCall } from './page.ts';

/** Finds an endpoint by its operation, and prepares it when a page first needs it. */
export interface Operations {
  endpointOf(operation: Operation): AnyEndpoint;
  performerOf(endpoint: AnyEndpoint): Performer;
}

export function operationsOf(endpoints: readonly AnyEndpoint[], options: PerformOptions): Operations {
  const byName = new Map<string, AnyEndpoint>(endpoints.map((endpoint) => [endpoint.operation, endpoint]));
  const known = new Map<AnyEndpoint, Performer>();
  return {
    endpointOf(operation) {
      const endpoint = byName.get(operation);
      if (!endpoint) throw new Error(`No endpoint is called ${operation}.`);
      return endpoint;
    },
    performerOf(endpoint) {
      let performer = known.get(endpoint);
      if (!performer) {
        performer = performerOf(endpoint, options);
        known.set(endpoint, performer);
      }
      return performer;
    },
  };
}

/** Checks a page against the declaration of the endpoint, since the page itself states the expected type. */
function expect({ operation, returns }: AnyEndpoint, schema: TSchema): void {
  const { items } = (returns.schema ?? {}) as { items?: TSchema };
  if (returns.schema !== schema && items !== schema) throw new Error(`${operation} replies with another type.`);
}

/** The context of a page request. */
export interface Requested {
  request: FastifyRequest;
  reply: FastifyReply;
  caller: Visitor | undefined;
  path: string;
  params: Readonly<Record<string, string>>;
  query: Values;
}

/** Whether a refusal hides an object, or reports that it is missing. */
export const isHidden = (error: unknown): error is ApiError =>
  error instanceof ApiError && [401, 403, 404].includes(error.status);

/**
 * The parameters of the path of an endpoint, taken from the parameters of the page and the given ones.
 * @throws ApiError 400 if a form lacks one
 */
function paramsFor({ path }: AnyEndpoint, values: Values): Record<string, string> {
  const params: Record<string, string> = {};
  for (const name of pathParameters(path)) {
    const value = values[name];
    if (value === undefined) throw badParam(name, 'is missing');
    if (typeof value !== 'string' && typeof value !== 'number') throw badParam(name, 'is invalid');
    params[name] = String(value);
  }
  return params;
}

/** A call of a page, with what only the server of pages does: running its forms, and reading the version of rights that counts for the request. */
export interface Calling extends PageCall {
  perform(operation: Operation, parameters: Values): Promise<unknown>;
  rightsVersion(): Promise<string>;
}

/** The call of a request. One version of rights applies to all of its reads. */
export function callOf(
  { request, reply, caller, path, params, query }: Requested,
  options: PerformOptions,
  { endpointOf, performerOf }: Operations,
): Calling {
  const { services } = options;
  let version = caller && Promise.resolve(caller.session.rights_version);
  const rightsVersion = () => (version ??= options.rightsVersion(services.db));
  const conditions = {
    unmodified_since: undefined,
    query: '',
    sent_from: { address: request.ip, user_agent: request.headers['user-agent'] },
    reading: request.headers as Reading,
    left: leavingOf(reply),
  };
  const perform = async (operation: Operation, given: Values) => {
    const endpoint = endpointOf(operation);
    const performer = performerOf(endpoint);
    const own = paramsFor(endpoint, { ...params, ...given });
    const grant = await performer.grant({ caller, params: own, rightsVersion });
    const { fields, files } = await asUploaded(given, (endpoint.input ?? {}) as TProperties, services);
    try {
      return await performer.run(grant, { ...fields, ...own }, conditions, request.headers);
    } finally {
      await discardAll(files);
    }
  };
  const bodyOf = ({ returns }: AnyEndpoint, result: unknown) =>
    returns.kind === 'page' ? result : returns.parts(result).body;
  const typed = async (schema: TSchema, operation: Operation, given: Values = {}) => {
    const endpoint = endpointOf(operation);
    expect(endpoint, schema);
    return bodyOf(endpoint, await perform(operation, given)) as never;
  };
  return {
    services,
    caller,
    path,
    params,
    query,
    reply,
    device: deviceOf(request, services.url),
    cookie: (name) => cookieOf(request, services.url, name),
    perform,
    rightsVersion,
    one: typed,
    all: typed,
    list: typed,
    described: async (operation, given = {}) => {
      const endpoint = endpointOf(operation);
      const { items, ...schema } = (endpoint.returns.schema ?? {}) as TSchema & { items?: TSchema };
      return { schema: items ?? schema, reply: bodyOf(endpoint, await perform(operation, given)) };
    },
    parameters: (operation) => endpointOf(operation).input ?? {},
    bytes: async (operation, given = {}) => endpointOf(operation).returns.parts(await perform(operation, given)),
    perhaps: async (asked) => {
      try {
        return await asked;
      } catch (error) {
        if (isHidden(error)) return undefined;
        throw error;
      }
    },
    may: async (operation, given = {}) => {
      const endpoint = endpointOf(operation);
      // A role may be enough to know, before it is known about which object: no object has this id.
      const unnamed = Object.fromEntries(pathParameters(endpoint.path).map((name) => [name, 0]));
      try {
        await performerOf(endpoint).grant({
          caller,
          params: paramsFor(endpoint, { ...unnamed, ...params, ...given }),
          rightsVersion,
        });
        return true;
      } catch (error) {
        // The target page decides who may read it.
        if (error instanceof ApiError && !(error instanceof Moved)) return false;
        throw error;
      }
    },
  };
}
