/** A class of requests that together take at most a share of what a process works on, so that there is room for others however many come. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tooBusy } from './errors.ts';
import { slotsFor } from './overload.ts';

export class Share {
  readonly #share: number;
  #taken = 0;

  /** @param share of the slots of the process, between 0 and 1 */
  constructor(share: number) {
    this.#share = share;
  }

  /**
   * Counts a request until all of its reply has been sent.
   * @throws ApiError 503
   */
  take(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#taken >= Math.max(1, Math.floor(slotsFor(request) * this.#share))) throw tooBusy();
    this.#taken += 1;
    reply.raw.once('close', () => {
      this.#taken -= 1;
    });
  }
}
