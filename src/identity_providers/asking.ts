/** Requests to providers, within limits of size and time. */
import { BlockedError, fetchWhole, OutboundError } from '../outbound/index.ts';
import { ProviderError } from './definition.ts';

const most_bytes = 1024 * 1024;
/** For each request. */
export const patience_ms = 10_000;

export interface Asking {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Origins that the operator has named. */
  own: ReadonlySet<string>;
  /** Whether others may be in the local network. */
  may_be_local: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Asks a provider.
 * @throws ProviderError without an answer, and for an address that is not allowed
 */
export async function ask(url: string, { own, may_be_local, signal, ...request }: Asking) {
  const deadline = AbortSignal.timeout(patience_ms);
  try {
    const answer = await fetchWhole(
      {
        ...request,
        url,
        secret_headers: {},
        verifies_tls: true,
        may_be_local: may_be_local || own.has(new URL(url).origin),
        silence_ms: patience_ms,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        most_redirects: 0,
      },
      most_bytes,
    );
    if (answer.status >= 500) throw new ProviderError('provider failed', true);
    return answer;
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    if (error instanceof BlockedError) throw new ProviderError('address is not allowed');
    // A certificate that is not trusted, a redirect, an answer that is too long or none in time.
    if (error instanceof OutboundError) throw new ProviderError('no answer', true);
    if (deadline.aborted || signal?.aborted) throw new ProviderError('no answer in time', true);
    throw error;
  }
}

/** For how long a page waits for what it can do without, and for how long nobody waits after that. */
const waiting = { most_ms: 2000, pause_ms: 30_000 };
const failures = new WeakMap<object, number>();

/** What a provider answers soon; undefined if it does not. A provider that is down holds no page up. */
export async function soon<T>(provider: object, asked: Promise<T>): Promise<T | undefined> {
  const answer = asked.catch(() => undefined);
  const isDown = (failures.get(provider) ?? 0) > Date.now() - waiting.pause_ms;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, isDown ? 0 : waiting.most_ms, undefined);
  const found = await Promise.race([answer, late]);
  clearTimeout(timer);
  if (found === undefined) failures.set(provider, Date.now());
  return found;
}
