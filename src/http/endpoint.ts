/** An endpoint is a value: what it is called, who may call it, what it takes, what it gives and what it does. Nothing else describes it. */
import type { KeyObject } from 'node:crypto';
import type { Static, TObject, TProperties } from 'typebox';
import type { Blobs } from '../blobs/index.ts';
import type { Database, DB } from '../db/index.ts';
import type { Secrets } from '../secrets/index.ts';
import type { ApiError } from './errors.ts';
import type { Rule } from './input.ts';
import type { Offering, Plan } from './plans.ts';
import type { Returns } from './reply.ts';

/** What every handler and access rule works with besides what it was granted. */
export interface Services {
  db: Database;
  /** The external address without a trailing slash, e.g. `https://forge.example`. */
  url: string;
  /** Git storages by name: absolute folders. */
  storages: Readonly<Record<string, string>>;
  /** Large files that are not in a repository. */
  blobs: Blobs;
  secrets: Secrets;
  /** Whoever has signed a licence with one of them is trusted. */
  licenseKeys: readonly KeyObject[];
}

/** Who calls, as far as the token says. */
export interface Caller {
  id: number;
  username: string;
  name: string;
  email: string;
  state: string;
  admin: boolean;
  external: boolean;
  /** The address that commits of his carry; another than `email` where he chose so. */
  commit_email: string;
  token: { id: number; scopes: readonly string[]; kind: TokenKind };
  /** Whether an administrator acts as this user; the token is the administrator's. */
  sudo: boolean;
  /** Whether requests are counted now: a limit on their number is on. */
  counted: boolean;
  /** The plan in force. It comes with the credential, which costs no statement. */
  plan: Plan;
}

/** Who a token was made for: a person, an administrator who acts as one, or programs that work in one project or group. */
export type TokenKind = 'personal' | 'impersonation' | 'project' | 'group';

/** What a call is subject to besides its parameters. */
export interface Conditions {
  /** The plan in force. */
  plan: Plan;
  /** The moment in `If-Unmodified-Since`, to the second. */
  unmodified_since: Date | undefined;
  /** The address that the request came from, none over a socket of this machine, and what program it says it came from. */
  sent_from: { address: string | undefined; user_agent: string | undefined };
}

/** How often one caller may call an endpoint, beyond what holds for all requests. */
export interface RateLimit {
  /** The application setting that holds the number of calls in a window; 0 means any. */
  setting: Limit;
  /** The one for callers without a token, by their address; the same where it is left out. */
  anonymous?: Limit;
  window_s: number;
  /** Counts only calls that give this parameter. */
  parameter?: string;
  /** The application setting that lists users who are not counted; administrators are not either, where there is one. */
  spared?: keyof DB['application_settings'] & `${string}_allowlist`;
}
type Limit = keyof DB['application_settings'] & (`${string}_limit` | `${string}_limit_unauthenticated`);

/** A request as far as limits count it. */
export interface Counting {
  /** Undefined for the anonymous, whose address counts, and for those whose credential is refused. */
  caller: Caller | undefined;
  /** An IP address. */
  address: string;
  parameters: Readonly<Record<string, unknown>>;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AccessCall extends Services {
  caller: Caller | undefined;
  params: Readonly<Record<string, string>>;
  method: Method;
}

/** Who may call, decided by loading what the call is about: the rule grants exactly what it has checked. */
export interface Access<Granted> {
  /** How the rule is named in docs/access.txt and in the OpenAPI document. */
  rule: string;
  check(call: AccessCall): Promise<Granted>;
}

export interface Endpoint<Granted, Input extends TProperties, Output> {
  method: Method;
  path: string;
  summary: string;
  access: Access<Granted>;
  /** Path, query and body are one namespace in this API; the path wins. */
  input?: Input;
  /** Rules over several parameters. */
  rules?: readonly Rule[];
  /** How parameters that cannot be read are refused, where the reference has a form of its own for it. */
  refused?: (text: string) => ApiError;
  returns: Returns<Output>;
  /** Token scopes that suffice besides `api` and, for reading, `read_api`; `any` means every valid token. */
  scopes?: readonly string[] | 'any';
  /** The plan that the endpoint needs; below it the call is refused with 403. */
  plan?: Plan;
  /** The offerings that have the endpoint; elsewhere it is 404. Every one by default. */
  offerings?: readonly Offering[];
  /** How whoever is signed in is refused elsewhere, where the reference has a form of its own for it. */
  elsewhere?: (services: Services) => ApiError;
  /** How often one may call it. */
  rate?: RateLimit;
  deprecated?: true;
  /** Largest body, where the usual limit does not do. */
  body_limit_bytes?: number;
  handle(call: Granted & Services & Conditions & { input: Static<TObject<Input>> }): NoInfer<Output> | Promise<NoInfer<Output>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the list of all endpoints holds values of many types, each checked where it was written.
export type AnyEndpoint = Endpoint<any, any, any>;

const verb =
  (method: Method) =>
  <G, I extends TProperties, O>(path: string, rest: Omit<Endpoint<G, I, O>, 'method' | 'path'>): Endpoint<G, I, O> => ({
    method,
    path,
    ...rest,
  });

export const get = verb('GET');
export const head = verb('HEAD');
export const post = verb('POST');
export const put = verb('PUT');
export const patch = verb('PATCH');
export const del = verb('DELETE');

/**
 * Endpoints that also live under another path, each in both places.
 * @param from the first part of each path that is another there
 */
export const alsoUnder = (from: string, to: string, endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.flatMap((endpoint) => [endpoint, { ...endpoint, path: endpoint.path.replace(from, to) }]);
