/** An endpoint is a value: its name, access rule, input, reply and handler. Nothing else describes it. */
import type { Static, TObject, TProperties } from 'typebox';
import type { DB } from '../db/index.ts';
import type { Services } from '../services/index.ts';
import type { ApiError } from './errors.ts';
import type { Rule } from './input.ts';
import type { Offering, Plan } from './plans.ts';
import type { Returns } from './reply.ts';
import type { Reading } from './stored_file.ts';

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
  /** The code that a deploy token or deploy key can access; it grants nothing else. */
  deploys?: DeployReach;
  /** The running job that acts for the user, never as more than a Developer. */
  job?: JobReach;
  /** Whether an administrator acts as this user; the token is the administrator's. */
  sudo: boolean;
  /** That administrator. */
  administrator?: { id: number; name: string; email: string };
  /** Whether requests are counted, because a rate limit is enabled. */
  counted: boolean;
  /** The plan in force. It is read with the credential, without a statement of its own. */
  plan: Plan;
}

/**
 * The kind of a token: for a person, for an administrator who acts as one, for programs in a project or group, for programs that only read its code, for a
 * person for two hours, the SSH key of a person, their session in a browser, their password as git sends it, or for a job while it runs.
 */
export type TokenKind =
  | ('personal' | 'impersonation' | 'project' | 'group' | 'deploy' | 'oauth' | 'ssh_key' | 'session')
  | ('password' | 'job');

/** The job that a job token belongs to. */
export interface JobReach {
  id: number;
  project_id: number;
  pipeline_id: number;
  /** Whether the user is an administrator, as who they have their level in a project. */
  of_admin: boolean;
}

/** The projects whose code a deploy token may read: one project, or all projects below one group. A deploy key reaches the projects that it was added to. */
export type DeployReach = { project_id: number | null; group_id: number | null } | { key_id: number };

/** The context of a call besides its parameters. */
export interface Conditions {
  /** The plan in force. */
  plan: Plan;
  /** The time in `If-Unmodified-Since`, in whole seconds. */
  unmodified_since: Date | undefined;
  /** The headers that decide how much of a file is sent. */
  reading: Reading;
  /** The address of the client, absent over a Unix socket, and its `User-Agent`. */
  sent_from: { address: string | undefined; user_agent: string | undefined };
  /** The query as it was sent, for redirects that keep it. */
  query: string;
  /** A signal that fires when the client disconnects before it has the reply: queued work can be dropped then. */
  left(): AbortSignal;
}

/** How often one caller may call an endpoint, besides the throttles of all requests. */
export interface RateLimit {
  /** The application setting with the number of calls per window; 0 means no limit. */
  setting: Limit;
  /** The setting for anonymous callers, who are counted by address; by default the same one. */
  anonymous?: Limit;
  window_s: number;
  /** Counts only calls with this parameter. */
  parameter?: string;
  /** The application setting that lists users who are not counted. With it, administrators are not counted either. */
  spared?: keyof DB['application_settings'] & `${string}_allowlist`;
}
type Limit = keyof DB['application_settings'] & (`${string}_limit` | `${string}_limit_unauthenticated`);

/** The facts about a request that rate limits use. */
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
  /** The version of rights that applies to the request; cached results for it are reused. */
  rightsVersion(): Promise<string>;
}

/** The properties of an endpoint's call that decide which credentials are accepted. */
export type Authenticating = Pick<AnyEndpoint, 'rotation' | 'deploy_tokens'> &
  Partial<Pick<AnyEndpoint, 'operation'>> &
  Partial<Pick<AccessCall, 'rightsVersion'>>;

/** An access rule, which decides by loading the objects of the call: it grants exactly the objects that it has checked. */
export interface Access<Granted> {
  /** The name of the rule in docs/access.txt and in the OpenAPI document. */
  rule: string;
  /** Whether callers without a credential may read what it grants. Changes always need one. */
  anonymous?: true;
  check(call: AccessCall): Promise<Granted>;
}

/** A chapter of the documentation. */
export interface Tag {
  /** The title, e.g. `Freeze periods`. */
  name: string;
  /** One sentence. */
  description: string;
}

export interface Endpoint<Granted, Input extends TProperties, Output> {
  method: Method;
  path: string;
  /** Verb and noun, e.g. `listFreezePeriods`: the name in generated clients, unique among all endpoints. */
  operation: string;
  /** The operation of the endpoint whose additional path this is. */
  alias_of?: string;
  summary: string;
  /** Details beyond the summary. */
  description?: string;
  access: Access<Granted>;
  /** Path, query and body share one namespace in this API; the path wins. */
  input?: Input;
  /** Rules over several parameters. */
  rules?: readonly Rule[];
  /** The refusal of invalid parameters, if the reference has a special form for it. */
  refused?: (text: string) => ApiError;
  returns: Returns<Output>;
  /** Further sufficient token scopes besides `api` and, for reading, `read_api`; `any` admits every valid token. */
  scopes?: readonly string[] | 'any';
  /** The plan that the endpoint requires; on a lower plan, calls get 403. */
  plan?: Plan;
  /** The offerings that have the endpoint; in others it is 404. By default all. */
  offerings?: readonly Offering[];
  /** The refusal of signed-in callers in other offerings, if the reference has a special form for it. */
  elsewhere?: (services: Services) => ApiError;
  /** How often one may call it. */
  rate?: RateLimit;
  /** The throttle that counts its calls, while it is enabled. By default, and while it is disabled, the throttle of the whole API counts them. */
  throttle?: 'files_api';
  /**
   * The audit events that it leaves, if what it brings along would leave others: the members of a new group, say, are a part of `group_created`. By default each
   * change leaves those that its noun declares.
   */
  audits?: readonly string[];
  /** Whether it rotates a token: a call with a revoked token revokes every token of its rotation chain. */
  rotation?: true;
  /** Whether deploy tokens are accepted besides those of users. */
  deploy_tokens?: true;
  /** Whether it honors `If-Unmodified-Since`: it answers 412 if the object to delete has changed since. */
  conditional?: true;
  /**
   * The refusals that its other declarations do not imply, by status: the exact texts of `message` with placeholders in angle brackets, and `<field>:
   * <reason>` for reasons by field. For 304, which has no body, a sentence that says when it is sent.
   */
  refusals?: Refusals;
  /** Whether its reply contains secrets, which forbids compressing it. */
  holds_secrets?: true;
  deprecated?: true;
  /** The largest body, if it differs from the usual limit. */
  body_limit_bytes?: number;
  handle(
    call: Granted & Services & Conditions & { input: Static<TObject<Input>> },
  ): NoInfer<Output> | Promise<NoInfer<Output>>;
}

export type Refusals = Readonly<Record<number, string | readonly string[]>>;

// biome-ignore lint/suspicious/noExplicitAny: the list of all endpoints has values of many types, each checked where it is written.
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
export const capitalized = <Word extends string>(word: Word): Capitalize<Word> =>
  (word.charAt(0).toUpperCase() + word.slice(1)) as Capitalize<Word>;

/** A noun with its article, for sentences: `an issue`. */
export const withArticle = (name: string): string => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;

/** The same endpoint with another path or method. */
export const alias = (endpoint: AnyEndpoint, at: { path?: string; method?: Method }): AnyEndpoint => ({
  ...endpoint,
  ...at,
  operation: `${endpoint.operation}Alias`,
  alias_of: endpoint.operation,
});

/**
 * Endpoints under their own path and another one.
 * @param from the start of each path, which is replaced
 */
export const alsoUnder = (from: string, to: string, endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.flatMap((endpoint) => [endpoint, alias(endpoint, { path: endpoint.path.replace(from, to) })]);

/** Endpoints that only some offerings have. */
export const offeredOn = (offerings: readonly Offering[], endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.map((endpoint) => ({ ...endpoint, offerings }));

/** Gives endpoints a tag of the documentation. */
export function tagged(
  name: string,
  description: string,
  ...lists: readonly (readonly AnyEndpoint[])[]
): FiledEndpoint[] {
  const tag: Tag = { name, description };
  return lists.flat().map((endpoint) => ({ ...endpoint, tag }));
}
