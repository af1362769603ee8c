/** An endpoint is a value: its name, access rule, input, reply and handler. Nothing else describes it. */
import type { Static, TObject, TProperties } from 'typebox';
import type { DB } from '../db/index.ts';
import type { Services } from '../services/index.ts';
import type { ApiError } from './errors.ts';
import type { Rule } from './input.ts';
import type { Offering, Plan } from './plans.ts';
import type { Returns } from './reply.ts';

/** The caller, as identified by the token. */
export interface Caller {
  id: number;
  username: string;
  name: string;
  email: string;
  state: string;
  admin: boolean;
  external: boolean;
  /** The email address in the user's commits; differs from `email` if they chose another one. */
  commit_email: string;
  token: { id: number; scopes: readonly string[]; kind: TokenKind };
  /** For deploy tokens, which act for no user: what they may read. */
  deploys?: DeployReach;
  /** Whether an administrator acts as this user; the token is the administrator's. */
  sudo: boolean;
  /** Whether requests are counted now: a limit on their number is on. */
  counted: boolean;
  /** The plan in force. It comes with the credential, which costs no statement. */
  plan: Plan;
}

/** Who a token was made for: a person, an administrator who acts as one, programs that work in one project or group, those that only read its code, or a person for two hours. */
export type TokenKind = 'personal' | 'impersonation' | 'project' | 'group' | 'deploy' | 'oauth';

/** The projects whose code a deploy token may read: one project, or all projects below one group. */
export interface DeployReach {
  project_id: number | null;
  group_id: number | null;
}

/** The context of a call besides its parameters. */
export interface Conditions {
  /** The plan in force. */
  plan: Plan;
  /** The moment in `If-Unmodified-Since`, to the second. */
  unmodified_since: Date | undefined;
  /** The address of the client, absent over a Unix socket, and its `User-Agent`. */
  sent_from: { address: string | undefined; user_agent: string | undefined };
}

/** How often one caller may call an endpoint, beyond what holds for all requests. */
export interface RateLimit {
  /** The application setting that holds the number of calls in a window; 0 means any. */
  setting: Limit;
  /** The setting for anonymous callers, counted by address; the same setting if left out. */
  anonymous?: Limit;
  window_s: number;
  /** Counts only calls that give this parameter. */
  parameter?: string;
  /** The application setting that lists users who are not counted. With it, administrators are not counted either. */
  spared?: keyof DB['application_settings'] & `${string}_allowlist`;
}
type Limit = keyof DB['application_settings'] & (`${string}_limit` | `${string}_limit_unauthenticated`);

/** A request as far as limits count it. */
export interface Counting {
  /** Undefined for anonymous callers, who are counted by address, and for refused credentials. */
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

/** Who may call, decided by loading the objects of the call: the rule grants exactly what it has checked. */
export interface Access<Granted> {
  /** The name of the rule in docs/access.txt and in the OpenAPI document. */
  rule: string;
  /** Whether callers without a credential may read what it grants. Changes always need one. */
  anonymous?: true;
  check(call: AccessCall): Promise<Granted>;
}

/** A chapter of the documentation. */
export interface Tag {
  /** As a reader would look for it, e.g. `Freeze periods`. */
  name: string;
  /** One sentence. */
  description: string;
}

export interface Endpoint<Granted, Input extends TProperties, Output> {
  method: Method;
  path: string;
  /** Verb and noun, e.g. `listFreezePeriods`: the name in generated clients, unique among all endpoints. */
  operation: string;
  /** The operation of the endpoint that has this additional address. */
  alias_of?: string;
  summary: string;
  /** Details beyond the summary. */
  description?: string;
  access: Access<Granted>;
  /** Path, query and body are one namespace in this API; the path wins. */
  input?: Input;
  /** Rules over several parameters. */
  rules?: readonly Rule[];
  /** The refusal of invalid parameters, if the reference has a special form for it. */
  refused?: (text: string) => ApiError;
  returns: Returns<Output>;
  /** Token scopes that suffice besides `api` and, for reading, `read_api`; `any` means every valid token. */
  scopes?: readonly string[] | 'any';
  /** The plan that the endpoint requires; calls on a lower plan get 403. */
  plan?: Plan;
  /** The offerings that have the endpoint; elsewhere it is 404. Every one by default. */
  offerings?: readonly Offering[];
  /** The refusal of signed-in callers in other offerings, if the reference has a special form for it. */
  elsewhere?: (services: Services) => ApiError;
  /** How often one may call it. */
  rate?: RateLimit;
  /** The throttle that counts its calls, while it is enabled. By default, and while it is disabled, the throttle of the whole API counts them. */
  throttle?: 'files_api';
  /** Whether it replaces a token: asking it with a revoked one ends every token that came from that one. */
  rotation?: true;
  /** Whether deploy tokens are accepted besides those of users. */
  deploy_tokens?: true;
  /** Whether it heeds `If-Unmodified-Since`, and answers 412 when what it removes has changed since. */
  conditional?: true;
  /**
   * The refusals that its other declarations do not imply, by status: the exact texts of `message`, with `<what varies>` in angle brackets, and for reasons by
   * field `<field>: <reason>`. For 304, which has no body, when it is sent.
   */
  refusals?: Refusals;
  deprecated?: true;
  /** The largest body, if it differs from the usual limit. */
  body_limit_bytes?: number;
  handle(call: Granted & Services & Conditions & { input: Static<TObject<Input>> }): NoInfer<Output> | Promise<NoInfer<Output>>;
}

export type Refusals = Readonly<Record<number, string | readonly string[]>>;

// biome-ignore lint/suspicious/noExplicitAny: the list of all endpoints holds values of many types, each checked where it was written.
export type AnyEndpoint = Endpoint<any, any, any>;

/** An endpoint with its tag. */
export type FiledEndpoint = AnyEndpoint & { tag: Tag };

/** Whether a call only reads. */
export const isReading = (method: Method): boolean => method === 'GET' || method === 'HEAD';

/** Whether callers without a credential are served. */
export const servesAnonymous = ({ access, method }: Pick<AnyEndpoint, 'access' | 'method'>): boolean =>
  access.anonymous === true && isReading(method);

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

/** A word inside the name of an operation, e.g. `list${capitalized('group')}Labels`. */
export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The same endpoint with another path or method. */
export const alias = (endpoint: AnyEndpoint, at: { path?: string; method?: Method }): AnyEndpoint => ({
  ...endpoint,
  ...at,
  operation: `${endpoint.operation}Alias`,
  alias_of: endpoint.operation,
});

/**
 * Endpoints that also live under another path, each in both places.
 * @param from the beginning of each path that is replaced
 */
export const alsoUnder = (from: string, to: string, endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.flatMap((endpoint) => [endpoint, alias(endpoint, { path: endpoint.path.replace(from, to) })]);

/** Endpoints that only some offerings have. */
export const offeredOn = (offerings: readonly Offering[], endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.map((endpoint) => ({ ...endpoint, offerings }));

/** Gives endpoints a tag of the documentation. */
export function tagged(name: string, description: string, ...lists: readonly (readonly AnyEndpoint[])[]): FiledEndpoint[] {
  const tag: Tag = { name, description };
  return lists.flat().map((endpoint) => ({ ...endpoint, tag }));
}
