/** Reads from remote systems, which may be hostile: redirects, responses and files have limits, and a secret is sent only to its host. */
import { open as openFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { slowest_bytes_per_s } from '../foundation/pace.ts';
import { headersOf, type Opening, OutboundError, open, reasonOf } from './opening.ts';

/** A response is larger than the limit. */
export class LimitError extends OutboundError {
  override name = 'LimitError';
}

/** A redirect that is not followed, and would not be followed on a retry. */
export class RefusedRedirect extends OutboundError {
  override name = 'RefusedRedirect';
}

export interface Fetching extends Opening {
  /** Headers that only the host and port of the URL get. */
  secret_headers: Readonly<Record<string, string>>;
  /** The idle timeout of the remote system. */
  silence_ms: number;
  /** Ends the request early. */
  signal: AbortSignal;
  /** How many redirects are followed; two unless given. */
  most_redirects?: number;
}

const usualRedirects = 2;
const redirections = new Set([301, 302, 303, 307, 308]);

/**
 * Where a redirect leads.
 * @throws RefusedRedirect for an address that is not followed: of another protocol, with a password, or without encryption where there was some
 */
function targetOf(location: string, url: URL): URL {
  const target = URL.parse(location, url.href);
  const isSafe = target?.protocol === 'https:' || (target?.protocol === 'http:' && url.protocol === 'http:');
  if (!target || !isSafe || target.username !== '' || target.password !== '')
    throw new RefusedRedirect('Redirected to an address that is not allowed');
  return target;
}

/** Sends a request and follows redirects. A method other than GET is kept, unless the answer is 303. */
async function follow(
  { secret_headers, most_redirects = usualRedirects, ...opening }: Fetching,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const first = new URL(opening.url);
  let url = first;
  let { method, body } = opening;
  for (let redirects = 0; ; redirects++) {
    const headers = url.host === first.host ? { ...opening.headers, ...secret_headers } : opening.headers;
    const response = await open({ ...opening, method, body, url: url.href, headers }, signal);
    const { statusCode: status = 0, headers: answered } = response;
    if (!redirections.has(status) || answered.location === undefined) return response;
    response.destroy();
    if (redirects === most_redirects) throw new RefusedRedirect('Redirected too often');
    url = targetOf(answered.location, url);
    if (status === 303) [method, body] = ['GET', undefined];
  }
}

/** Runs `read` on the response, and ends it when the other system is silent for too long, or slow. */
async function withResponse<T>(
  fetching: Fetching,
  read: (response: IncomingMessage, chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), fetching.silence_ms);
  async function* chunksOf(response: IncomingMessage) {
    let began_ms = performance.now();
    let size_bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh();
      size_bytes += chunk.length;
      const took_ms = performance.now() - began_ms;
      if (took_ms > fetching.silence_ms) {
        if (size_bytes < (slowest_bytes_per_s * took_ms) / 1000)
          throw new OutboundError(`The answer is slower than ${slowest_bytes_per_s} bytes a second`);
        [began_ms, size_bytes] = [performance.now(), 0];
      }
      const yielded_ms = performance.now();
      yield chunk;
      // Our own processing does not count as their time.
      began_ms += performance.now() - yielded_ms;
    }
  }
  let response: IncomingMessage | undefined;
  try {
    response = await follow(fetching, AbortSignal.any([fetching.signal, silence.signal]));
    return await read(response, chunksOf(response));
  } catch (error) {
    fetching.signal.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError(
      silence.signal.aborted ? `No answer within ${fetching.silence_ms / 1000} seconds` : reasonOf(error),
    );
  } finally {
    clearTimeout(timer);
    response?.destroy();
  }
}

interface Answer {
  status: number;
  headers: Record<string, string>;
}

/**
 * Sends a request and reads the whole answer.
 * @param most_bytes of the answer
 * @throws OutboundError without an answer, LimitError for one that is too large
 */
export const fetchWhole = (fetching: Fetching, most_bytes: number): Promise<Answer & { body: Buffer }> =>
  withResponse(fetching, async (response, chunks) => {
    const parts: Buffer[] = [];
    let size_bytes = 0;
    for await (const chunk of chunks) {
      size_bytes += chunk.length;
      if (size_bytes > most_bytes) throw new LimitError(`The answer is larger than ${most_bytes} bytes`);
      parts.push(chunk);
    }
    return { status: response.statusCode ?? 0, headers: headersOf(response), body: Buffer.concat(parts) };
  });

export interface Download {
  /** The destination file; the remains of an earlier attempt are kept if the remote file is unchanged. */
  file: string;
  /** The `ETag` of that attempt. */
  etag: string | undefined;
  most_bytes: number;
  /** Told of the `ETag` before the first byte is written. */
  onEtag(etag: string | undefined): Promise<void>;
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/**
 * Downloads a file, which goes on where an earlier attempt was broken off. Sizes are counted while reading, and headers about them are not believed.
 * @returns the status of the answer; the file is complete with 200 and 206, and not written with any other
 * @throws OutboundError when there is no answer or it is broken off, LimitError for one that is too large
 */
export async function download(fetching: Fetching, { file, etag, most_bytes, onEtag }: Download): Promise<Answer> {
  const there_bytes = etag === undefined ? 0 : await sizeOf(file);
  const range: Record<string, string> = there_bytes > 0 ? { range: `bytes=${there_bytes}-`, 'if-range': etag! } : {};
  const headers = { ...fetching.headers, 'accept-encoding': 'identity', ...range };
  return withResponse({ ...fetching, headers }, async (response, chunks) => {
    const answer = { status: response.statusCode ?? 0, headers: headersOf(response) };
    if (answer.status !== 200 && answer.status !== 206) return answer;
    const continues = answer.status === 206;
    if (continues && !answer.headers['content-range']?.startsWith(`bytes ${there_bytes}-`))
      throw new OutboundError('The answer is not the part that was requested');
    if (!continues) await onEtag(answer.headers.etag);
    const handle = await openFile(file, continues ? 'a' : 'w', 0o600);
    try {
      let size_bytes = continues ? there_bytes : 0;
      for await (const chunk of chunks) {
        size_bytes += chunk.length;
        if (size_bytes > most_bytes) throw new LimitError(`The file is larger than ${most_bytes} bytes`);
        await handle.write(chunk);
      }
    } finally {
      await handle.close();
    }
    return answer;
  });
}
