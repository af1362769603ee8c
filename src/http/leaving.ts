/** Detects clients that disconnect before they have their reply. */
import type { FastifyReply } from 'fastify';

/**
 * Creates the signal on first use, since few handlers need one. It also fires when the reply is complete.
 * @param reply of the request
 */
export function leavingOf({ raw }: FastifyReply): () => AbortSignal {
  let leaving: AbortController | undefined;
  return () => {
    if (leaving) return leaving.signal;
    const made = new AbortController();
    leaving = made;
    if (raw.closed) made.abort();
    else raw.once('close', () => made.abort());
    return made.signal;
  };
}
