/** The checks that every request passes before access is granted, for endpoints and doors alike. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { currentClient } from '../foundation/clients.ts';
import { anonymousBody_bytes, type BodyOptions, UnreadBody } from './body.ts';
import type { Caller } from './endpoint.ts';
import { type ApiError, insufficientScope } from './errors.ts';
import type { Values } from './form.ts';
import type { Headers } from './reply.ts';
import { hasScope } from './scopes.ts';

export interface Admission<C extends Caller> {
  /** Identifies the caller; undefined without a credential. Throws for an invalid one. */
  identify(): Promise<C | undefined>;
  /** Applies rate limits, if enabled. The headers are part of every reply. */
  count: ((caller: C | undefined) => Promise<Headers>) | undefined;
}

/**
 * Identifies the caller and applies rate limits.
 * @throws what `identify` and `count` refuse
 */
export async function admit<C extends Caller>(
  reply: FastifyReply,
  { identify, count }: Admission<C>,
): Promise<C | undefined> {
  // In braces, so that the reply is not returned: it is a thenable, and would be awaited until it is sent.
  const counted = async (caller: C | undefined) => {
    if (count) reply.headers(await count(caller));
  };
  const caller = await identify().catch(async (error: unknown) => {
    await counted(undefined);
    throw error;
  });
  const client = currentClient();
  if (client && caller) client.person = caller.id;
  await counted(caller);
  return caller;
}

/**
 * Checks that the caller's token has a scope that a request requires.
 * @param scopes the accepted scopes, one of which the token needs; undefined if any token is accepted
 * @throws the error that `insufficient` returns
 */
export function checkScopes(
  caller: Caller | undefined,
  scopes: readonly string[] | undefined,
  insufficient: (scopes: readonly string[]) => ApiError = insufficientScope,
): void {
  if (caller && scopes && !hasScope(caller, scopes)) throw insufficient(scopes);
}

const credentialHeaders = ['authorization', 'private-token', 'job-token'] as const;
const credentialParameters = ['private_token', 'access_token', 'job_token'] as const;

/** Whether a request carries a credential besides its body. */
const carriesCredential = ({ headers, query }: FastifyRequest): boolean =>
  credentialHeaders.some((name) => headers[name]) || credentialParameters.some((name) => (query as Values)[name]);

/**
 * Reads a body before the caller is identified, because the credential may be in it. Only requests without another credential are read here, up to the limit for
 * anonymous callers. If the body cannot be read, the fields are empty, and reading it again throws the reason.
 */
export async function fieldsThatMayIdentify(
  request: FastifyRequest,
  options: Omit<BodyOptions, 'at_most_bytes'>,
): Promise<Values> {
  const { body } = request;
  if (!(body instanceof UnreadBody) || body.takesFiles || carriesCredential(request)) return {};
  const read = await body.read({ ...options, at_most_bytes: anonymousBody_bytes }).catch(() => undefined);
  return read?.fields ?? {};
}
