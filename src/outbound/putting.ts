/** Sending files to other systems, whose URLs these give: guarded against addresses of the local network. Redirects are not followed. */
import type { Readable } from 'node:stream';
import { type Opening, OutboundError, open, reasonOf } from './opening.ts';

export interface Putting extends Omit<Opening, 'method' | 'body'> {
  body: Readable;
  /** Ends it. */
  signal: AbortSignal;
}

/**
 * Sends a file with PUT.
 * @returns the status of the response
 * @throws OutboundError without a response; the reason of the signal
 */
export async function putTo({ signal, ...putting }: Putting): Promise<number> {
  try {
    const response = await open({ ...putting, method: 'PUT' }, signal);
    response.destroy();
    return response.statusCode ?? 0;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof OutboundError ? error : new OutboundError(reasonOf(error));
  } finally {
    putting.body.destroy();
  }
}
