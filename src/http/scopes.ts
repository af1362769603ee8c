/** Which token scopes are sufficient for a call. */
import { type AnyEndpoint, type Caller, isReading } from './endpoint.ts';

/** The accepted scopes, one of which is required; undefined if any token is accepted. */
export function scopesFor({ method, scopes }: Pick<AnyEndpoint, 'method' | 'scopes'>): readonly string[] | undefined {
  if (scopes === 'any') return undefined;
  return ['api', ...(isReading(method) ? ['read_api'] : []), ...(scopes ?? [])];
}

/** Whether the caller's token has one of the scopes. With sudo, only the scope `sudo` is required, which was checked before. */
export const hasScope = ({ sudo, token }: Caller, needed: readonly string[]): boolean =>
  sudo || needed.some((scope) => token.scopes.includes(scope));
