/** Which scopes of a token suffice for a call. */
import { type AnyEndpoint, type Caller, isReading } from './endpoint.ts';

/** The scopes of which one is needed, or undefined when every token will do. */
export function scopesFor({ method, scopes }: Pick<AnyEndpoint, 'method' | 'scopes'>): readonly string[] | undefined {
  if (scopes === 'any') return undefined;
  return ['api', ...(isReading(method) ? ['read_api'] : []), ...(scopes ?? [])];
}

/** Whether the caller's token has one of the scopes. Whoever acts for somebody else was asked for the scope `sudo` already, and for no other. */
export const hasScope = ({ sudo, token }: Caller, needed: readonly string[]): boolean =>
  sudo || needed.some((scope) => token.scopes.includes(scope));
