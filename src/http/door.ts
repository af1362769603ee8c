/**
 * Doors: the parts of the server besides the endpoints of the API, such as git, pages and health. A door writes its replies itself; callers, limits, scopes and
 * errors are handled as for endpoints.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify';
import type { Services } from '../services/index.ts';
import { admit, checkScopes, fieldsThatMayIdentify } from './admission.ts';
import { anonymousBody_bytes, type BodyOptions, UnreadBody } from './body.ts';
import { compressed } from './compression.ts';
import { type Cost, costing } from './costs.ts';
import type { AnyEndpoint, Caller, Counting, Method } from './endpoint.ts';
import { answeringIn, type ErrorForm } from './error_replies.ts';
import type { ApiError } from './errors.ts';
import type { Values } from './form.ts';
import type { Headers } from './reply.ts';
import { streamBodies } from './streamed_body.ts';

/** How a door identifies the caller, and which scopes it requires. */
export interface Identification<C extends Caller = Caller, R extends RouteGenericInterface = RouteGenericInterface> {
  /** Whether a request has a credential that only this door recognises, so that its body need not be read to find one. */
  carries?(request: FastifyRequest<R>): boolean;
  /**
   * Identifies the caller; undefined without a credential.
   * @param fields of the body, if the request has no credential outside it
   */
  identify(services: Services, request: FastifyRequest<R>, fields: Values): Promise<C | undefined>;
  /** The accepted scopes, one of which the token needs; undefined if any token is accepted. */
  scopes(request: FastifyRequest<R>, fields: Values): readonly string[] | undefined;
  /** The refusal of a token without these scopes, if the door has a form of its own. */
  insufficient?(request: FastifyRequest<R>): ApiError;
  /** Counts the request towards the rate limit of the API. */
  count?(services: Services, counting: Counting): Promise<Headers>;
}

export interface DoorCall<C extends Caller, R extends RouteGenericInterface> {
  services: Services;
  caller: C | undefined;
  /** The fields of the body; empty for streamed bodies. */
  fields: Values;
  request: FastifyRequest<R>;
  reply: FastifyReply;
}

/** The documentation of a door that other people's programs call. */
export interface DoorDescription {
  operation: string;
  summary: string;
  description: string;
  /** The name of a tag that endpoints have. */
  tag: string;
  offerings?: AnyEndpoint['offerings'];
  /** The media types of the body; none without one. */
  body_types: readonly string[];
  /** The parameters of the path that are texts; others are numbers. */
  text_parameters?: readonly string[];
  /** The parameters of the query, which are optional texts. */
  query_parameters?: readonly string[];
  /** Whether callers need a token. */
  needs_token?: true;
  /** The meaning of each status. Bodies are JSON. */
  responses: Readonly<Record<number, string>>;
}

/** A door of the API that is in its documentation. */
export interface DescribedDoor {
  method: Method;
  /** Below the root of the API, with parameters as in the paths of endpoints. */
  path: string;
  /** The root that the path is below, if it is another one. */
  root?: string;
  description: DoorDescription;
}

export interface Door<C extends Caller = Caller, R extends RouteGenericInterface = RouteGenericInterface> {
  method: Method;
  /** The path of the route, with parameters as in the paths of endpoints. */
  url: string;
  /** Omitted if the door does not identify callers. */
  who?: Identification<C, R>;
  /** Whether the GET of the door does not answer HEAD, because it changes something or streams. */
  without_head?: true;
  /** Its cost, if it differs from the other doors of its doorway. */
  cost?: Cost;
  /** Whether its replies are texts without secrets, which are compressed as the client accepts it. */
  is_text?: true;
  handle(call: DoorCall<C, R>): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: the doors of a doorway have callers and parameters of different types, each checked where it is written.
type AnyDoor = Door<any, any>;

/** Doors with the same form of errors and the same body parser. */
export interface Doorway {
  doors: readonly AnyDoor[];
  /** The cost of its doors, and the data that its `prepare` adds. */
  cost: Cost;
  errors(services: Services): ErrorForm;
  /** How bodies are read, if not as for endpoints; with `stream`, the doors read them themselves, through `streamOf`. */
  bodies?: 'stream' | Pick<BodyOptions, 'at_most_bytes' | 'keeps_files' | 'parse'>;
  /** Registers further routes or hooks. */
  prepare?(app: FastifyInstance): void | Promise<void>;
}

/** A door with its types. */
export const door = <C extends Caller, R extends RouteGenericInterface>(declared: Door<C, R>): Door<C, R> => declared;

const anonymous = async () => undefined;

/** The handler of a route: admits the request, reads its body within the limit of the caller, and calls the door. */
function throughDoor(services: Services, { who, handle }: AnyDoor, bodies: Exclude<Doorway['bodies'], 'stream'>) {
  const { blobs } = services;
  const { at_most_bytes, keeps_files, parse } = { at_most_bytes: anonymousBody_bytes, ...bodies };
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const early = who?.carries?.(request) ? {} : await fieldsThatMayIdentify(request, { blobs, parse });
    const count = who?.count;
    const caller = await admit(reply, {
      identify: who ? () => who.identify(services, request, early) : anonymous,
      count: count && ((caller) => count(services, { caller, address: request.ip, parameters: {} })),
    });
    const { body } = request;
    const { fields } =
      body instanceof UnreadBody
        ? await body.read({ at_most_bytes: caller ? at_most_bytes : anonymousBody_bytes, blobs, keeps_files, parse })
        : { fields: {} };
    if (who) checkScopes(caller, who.scopes(request, fields), who.insufficient && (() => who.insufficient!(request)));
    return handle({ services, caller, fields, request, reply });
  };
}

/** Adds the routes of a doorway to `app`. */
export async function openDoorway(
  app: FastifyInstance,
  services: Services,
  { doors, cost, errors, bodies, prepare }: Doorway,
): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler(answeringIn(errors(services)));
    if (bodies === 'stream') streamBodies(scope);
    scope.addHook('onRoute', (route) => {
      route.config = { ...costing(cost), ...route.config };
    });
    await prepare?.(scope);
    for (const declared of doors)
      scope.route({
        method: declared.method,
        url: declared.url,
        exposeHeadRoute: !declared.without_head,
        ...(declared.is_text ? compressed : {}),
        config: costing(declared.cost ?? cost),
        handler: throughDoor(services, declared, bodies === 'stream' ? undefined : bodies),
      });
  });
}
