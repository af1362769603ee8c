/** Reading from other systems, which may be hostile: redirects, answers and files have limits, and a secret stays with the host that it is for. */
import type { IncomingMessage } from 'node:http';
import { parse } from 'secure-json-parse';
import { headersOf, type Opening, OutboundError, open, reasonOf } from './opening.ts';

/** An answer is larger, or nested more deeply, than we read. */
export class LimitError extends OutboundError {
  override name = 'LimitError';
}

interface Fetching extends Opening {
  /** Headers that only the host and port of the URL get. */
  secret_headers: Readonly<Record<string, string>>;
  /** How long the other system may be silent. */
  silence_ms: number;
  /** Ends the request early. */
  signal: AbortSignal;
}

const most_redirects = 2;
const redirections = new Set([301, 302, 303, 307, 308]);

/**
 * Where a redirect leads.
 * @throws OutboundError for an address that is not followed: of another protocol, with a password, or without encryption where there was some
 */
function targetOf(location: string, url: URL): URL {
  const target = URL.parse(location, url.href);
  const isSafe = target?.protocol === 'https:' || (target?.protocol === 'http:' && url.protocol === 'http:');
  if (!target || !isSafe || target.username !== '' || target.password !== '')
    throw new OutboundError('Redirected to an address that is not allowed');
  return target;
}

/** Sends a request and follows redirects. A method other than GET is kept, unless the answer is 303. */
async function follow({ secret_headers, ...opening }: Fetching, signal: AbortSignal): Promise<IncomingMessage> {
  const first = new URL(opening.url);
  let url = first;
  let { method, body } = opening;
  for (let redirects = 0; ; redirects++) {
    const headers = url.host === first.host ? { ...opening.headers, ...secret_headers } : opening.headers;
    const response = await open({ ...opening, method, body, url: url.href, headers }, signal);
    const { statusCode: status = 0, headers: answered } = response;
    if (!redirections.has(status) || answered.location === undefined) return response;
    response.destroy();
    if (redirects === most_redirects) throw new OutboundError('Redirected too often');
    url = targetOf(answered.location, url);
    if (status === 303) [method, body] = ['GET', undefined];
  }
}

/** Runs `read` on the response, and ends it when the other system is silent for too long. */
async function withResponse<T>(
  fetching: Fetching,
  read: (response: IncomingMessage, chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), fetching.silence_ms);
  async function* chunksOf(response: IncomingMessage) {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh();
      yield chunk;
    }
  }
  let response: IncomingMessage | undefined;
  try {
    response = await follow(fetching, AbortSignal.any([fetching.signal, silence.signal]));
    return await read(response, chunksOf(response));
  } catch (error) {
    fetching.signal.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError(silence.signal.aborted ? `No answer within ${fetching.silence_ms / 1000} seconds` : reasonOf(error));
  } finally {
    clearTimeout(timer);
    response?.destroy();
  }
}

const most_levels = 64;

/** Counts the levels of a JSON text outside strings, because the parser has no limit. */
class Levels {
  #levels = 0;
  #isInString = false;
  #isEscaped = false;

  /** @throws LimitError */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === 0x5c) this.#isEscaped = true;
        else if (byte === 0x22) this.#isInString = false;
      } else if (byte === 0x22) this.#isInString = true;
      else if (byte === 0x5b || byte === 0x7b) this.#levels++;
      else if (byte === 0x5d || byte === 0x7d) this.#levels--;
      if (this.#levels > most_levels) throw new LimitError(`The answer is nested more than ${most_levels} levels deep`);
    }
  }
}

export interface Fetched {
  status: number;
  headers: Record<string, string>;
  /** Undefined when the answer is not JSON. */
  value: unknown;
}

/**
 * Requests JSON.
 * @param most_bytes of the answer
 * @throws OutboundError without an answer, LimitError for one that is too large
 */
export const fetchJson = (fetching: Fetching, most_bytes: number): Promise<Fetched> =>
  withResponse(fetching, async (response, chunks) => {
    const parts: Buffer[] = [];
    const levels = new Levels();
    let size_bytes = 0;
    for await (const chunk of chunks) {
      size_bytes += chunk.length;
      if (size_bytes > most_bytes) throw new LimitError(`The answer is larger than ${most_bytes} bytes`);
      levels.add(chunk);
      parts.push(chunk);
    }
    const value = jsonIn(Buffer.concat(parts).toString('utf8'));
    return { status: response.statusCode ?? 0, headers: headersOf(response), value };
  });

function jsonIn(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return undefined;
  }
}
