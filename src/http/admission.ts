/** What every request passes before anything is granted to it, whichever way it came in: an endpoint or a door. */
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
  /** The scopes of which the caller's token needs one; undefined when every token will do. */
  scopes: readonly string[] | undefined;
  /** How a token without them is refused. */
  insufficient?(scopes: readonly string[]): ApiError;
}

/**
 * Lets a request in: who calls, whether these are not too many calls, and whether the token is good for it, in this order.
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
