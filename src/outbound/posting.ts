/** Sending to other systems, whose URLs users give: guarded against addresses of the local network, and limited in time and size. */
import type { IncomingMessage } from 'node:http';
import { headersOf, type Opening, OutboundError, open, reasonOf } from './opening.ts';

export interface Posting extends Omit<Opening, 'method'> {
  body: string;
  /** For everything together, until the end of the response. */
  timeout_ms: number;
  /** What is kept of the body of the response; the connection is closed after it. */
  most_bytes: number;
  /** Ends the request early. */
  signal?: AbortSignal;
}

interface Posted {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Only the stored part is read. PostgreSQL accepts no NUL in texts. */
async function textOf(response: IncomingMessage, most_bytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size_bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size_bytes += part.length;
    if (size_bytes >= most_bytes) break;
  }
  return Buffer.concat(parts).subarray(0, most_bytes).toString('utf8').replaceAll('\0', '');
}

/**
 * Sends a POST request. Redirects are not followed.
 * @throws OutboundError without a response: refused, unreachable, or too late
 */
export async function postTo(posting: Posting): Promise<Posted> {
  const { timeout_ms, most_bytes, signal } = posting;
  const time = AbortSignal.timeout(timeout_ms);
  try {
    const response = await open({ ...posting, method: 'POST' }, signal ? AbortSignal.any([signal, time]) : time);
    return { status: response.statusCode ?? 0, headers: headersOf(response), body: await textOf(response, most_bytes) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError(time.aborted ? `No response within ${timeout_ms / 1000} seconds` : reasonOf(error));
  }
}
