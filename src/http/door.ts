/**
 * Doors: what the server answers besides the endpoints of the API, such as git, pages and health. A door writes its replies itself; who calls, limits, scopes and
 * errors are dealt with as they are for endpoints.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify';
import type { Services } from '../services/index.ts';
import { admit } from './admission.ts';
import type { Caller, Counting, Method } from './endpoint.ts';
import { answeringIn, type ErrorForm } from './error_replies.ts';
import type { ApiError } from './errors.ts';
import type { Headers } from './reply.ts';

/** How a door learns who calls, and what it asks of a token. */
export interface Identification<C extends Caller = Caller, R extends RouteGenericInterface = RouteGenericInterface> {
  /** Who calls; undefined without a credential. */
  identify(services: Services, request: FastifyRequest<R>): Promise<C | undefined>;
  /** The accepted scopes, one of which the token needs; undefined if any token is accepted. */
  scopes(request: FastifyRequest<R>): readonly string[] | undefined;
  /** How a token without them is refused, where the door has words of its own. */
  insufficient?(request: FastifyRequest<R>): ApiError;
  /** Counts the request among those of the API. */
  count?(services: Services, counting: Counting): Promise<Headers>;
}

export interface DoorCall<C extends Caller, R extends RouteGenericInterface> {
  services: Services;
  caller: C | undefined;
  request: FastifyRequest<R>;
  reply: FastifyReply;
}

export interface Door<C extends Caller = Caller, R extends RouteGenericInterface = RouteGenericInterface> {
  method: Method;
  /** A route of the server, with parameters as the paths of endpoints have them. */
  url: string;
  /** Left out where it does not matter who calls. */
  who?: Identification<C, R>;
  /** Whether GET leaves HEAD unanswered, because it does something or because it streams. */
  without_head?: true;
  handle(call: DoorCall<C, R>): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: the doors of a doorway differ in who may call and in their parameters, each checked where it was written.
type AnyDoor = Door<any, any>;

/** Doors that have the form of their errors and the way in which bodies are read in common. */
export interface Doorway {
  doors: readonly AnyDoor[];
  errors(services: Services): ErrorForm;
  /** How bodies are read, and whatever else the routes need, where it is not as for endpoints. */
  prepare?(app: FastifyInstance): void | Promise<void>;
}

/** A door with its types. */
export const door = <C extends Caller, R extends RouteGenericInterface>(declared: Door<C, R>): Door<C, R> => declared;

const anonymous = async () => undefined;

/** Adds the routes of a doorway to `app`. */
export async function openDoorway(app: FastifyInstance, services: Services, { doors, errors, prepare }: Doorway): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler(answeringIn(errors(services)));
    await prepare?.(scope);
    for (const { method, url, who, without_head, handle } of doors)
      scope.route({
        method,
        url,
        exposeHeadRoute: !without_head,
        handler: async (request, reply) => {
          const count = who?.count;
          const caller = await admit(reply, {
            identify: who ? () => who.identify(services, request) : anonymous,
            ...(count ? { count: (caller) => count(services, { caller, address: request.ip, parameters: {} }) } : {}),
            scopes: who?.scopes(request),
            ...(who?.insufficient ? { insufficient: () => who.insufficient!(request) } : {}),
          });
          return handle({ services, caller, request, reply });
        },
      });
  });
}
