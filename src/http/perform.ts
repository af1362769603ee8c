/** The steps of an endpoint between identifying the caller and writing the reply. Both the routes of the API and pages use them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { TProperties } from 'typebox';
import type { Database } from '../db/index.ts';
import { actingAs } from '../foundation/actors.ts';
import type { Services } from '../services/index.ts';
import { actorOf } from './acting.ts';
import { checkScopes } from './admission.ts';
import { causedBy } from './cause.ts';
import { type AccessCall, type AnyEndpoint, type Conditions, isReading } from './endpoint.ts';
import { ApiError, forbidden, RefusedAgain, unauthorized } from './errors.ts';
import type { Values } from './form.ts';
import { inputReader } from './input.ts';
import { needsPlan, type Offering, type Plan, reaches } from './plans.ts';
import { scopesFor } from './scopes.ts';

export interface PerformOptions {
  services: Services;
  /** The plan in force for anonymous requests; a caller includes it. */
  planForAnonymous(db: Database, version: string): Promise<Plan>;
  /** The version of rights, at the time of the call or later. */
  rightsVersion(db: Database): Promise<string>;
  /** The offering of this server, or `any`. */
  offering: Offering | 'any';
  /** Called with every error that a handler throws; tests compare it with the declared refusals. */
  inspectRefusal?(endpoint: AnyEndpoint, refusal: ApiError): void;
}

/** The caller, and the objects that the path names. */
export type Asking = Pick<AccessCall, 'caller' | 'params' | 'rightsVersion'>;

/** The objects that an access rule has granted, and the plan in force. */
export interface Grant {
  granted: object;
  caller: AccessCall['caller'];
  plan: Plan;
}

/** A prepared endpoint, which can be called. */
export interface Performer {
  /** @throws ApiError refusals of scopes, offering, access rule and plan */
  grant(asking: Asking): Promise<Grant>;
  /**
   * Reads the parameters and calls the handler.
   * @param parameters of path, query and body together
   * @param headers of the request that causes the call
   * @returns the result of the handler
   * @throws ApiError 400 for parameters, and refusals of the handler
   */
  run(
    grant: Grant,
    parameters: Values,
    conditions: Omit<Conditions, 'plan'>,
    headers: IncomingHttpHeaders,
  ): Promise<unknown>;
}

/** The names of the parameters in a path: `:name` is one segment, `*name` at the end is the rest of the path. */
export const pathParameters = (path: string): string[] => [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!);

/** A path in the syntax of the router. */
export const routeOf = (path: string): string => path.replace(/\*\w+$/, '*');

/** Whether the offering of the server has an endpoint. */
export const isOffered = ({ offerings }: AnyEndpoint, offering: PerformOptions['offering']): boolean =>
  offering === 'any' || (offerings?.includes(offering) ?? true);

/** The handler of an endpoint, with its refusals passed to the inspector, except for those of its access rule. */
function inspectedHandler(
  endpoint: AnyEndpoint,
  { inspectRefusal }: Pick<PerformOptions, 'inspectRefusal'>,
): AnyEndpoint['handle'] {
  if (!inspectRefusal) return endpoint.handle;
  return async (call) => {
    try {
      return await endpoint.handle(call);
    } catch (error) {
      if (error instanceof ApiError && !(error instanceof RefusedAgain)) inspectRefusal(endpoint, error);
      throw error;
    }
  };
}

/** Prepares an endpoint, once for each. */
export function performerOf(endpoint: AnyEndpoint, options: PerformOptions): Performer {
  const { services } = options;
  const readInput = inputReader({
    input: (endpoint.input ?? {}) as TProperties,
    rules: endpoint.rules,
    refused: endpoint.refused,
    reads: isReading(endpoint.method),
    in_path: pathParameters(endpoint.path),
  });
  const scopes = scopesFor(endpoint);
  const isElsewhere = !isOffered(endpoint, options.offering);
  const handle = inspectedHandler(endpoint, options);
  return {
    async grant({ caller, params, rightsVersion }) {
      checkScopes(caller, scopes);
      if (isElsewhere) throw caller ? endpoint.elsewhere!(services) : unauthorized();
      const granted = await endpoint.access.check({
        ...services,
        caller,
        params,
        method: endpoint.method,
        rightsVersion,
      });
      const plan = caller?.plan ?? (await options.planForAnonymous(services.db, await rightsVersion()));
      if (!reaches(plan, endpoint.plan)) throw forbidden(needsPlan('This', endpoint.plan!));
      return { granted, plan, caller };
    },
    async run({ granted, plan, caller }, parameters, conditions, headers) {
      const call = { ...granted, ...services, input: readInput(parameters, plan), plan, ...conditions };
      if (isReading(endpoint.method)) return await causedBy(headers, () => handle(call));
      return await causedBy(headers, () =>
        actingAs(actorOf(caller, conditions.sent_from.address, endpoint.audits), () => handle(call)),
      );
    },
  };
}
