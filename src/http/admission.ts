/** The checks that every request passes before access is granted, for endpoints and doors alike. */
import type { FastifyReply } from 'fastify';
import type { Caller } from './endpoint.ts';
import { type ApiError, insufficientScope } from './errors.ts';
import type { Headers } from './reply.ts';
import { hasScope } from './scopes.ts';

export interface Admission<C extends Caller> {
  /** Who calls; undefined without a credential. A credential that does not hold is thrown. */
  identify(): Promise<C | undefined>;
  /** Counts the request where limits are on. The headers go with the reply, whatever it is. */
  count?(caller: C | undefined): Promise<Headers>;
  /** The accepted scopes, one of which the token needs; undefined if any token is accepted. */
  scopes: readonly string[] | undefined;
  /** How a token without them is refused. */
  insufficient?(scopes: readonly string[]): ApiError;
}

/**
 * Admits a request: identifies the caller, applies rate limits and checks the scopes of the token, in this order.
 * @throws what `identify`, `count` and `insufficient` refuse
 */
export async function admit<C extends Caller>(
  reply: FastifyReply,
  { identify, count, scopes, insufficient = insufficientScope }: Admission<C>,
): Promise<C | undefined> {
  // In braces: a reply that is returned would be waited for until it is sent, since it is a thenable.
  const counted = async (caller: C | undefined) => {
    if (count) reply.headers(await count(caller));
  };
  const caller = await identify().catch(async (error: unknown) => {
    await counted(undefined);
    throw error;
  });
  await counted(caller);
  if (caller && scopes && !hasScope(caller, scopes)) throw insufficient(scopes);
  return caller;
}
