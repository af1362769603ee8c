/**
 * Connections whose user is not known yet, from the moment they are accepted: the library reports a connection only when its client has said something
 * (docs/decisions/0067-ssh-makes-room-for-newcomers.md).
 */
import type { Socket } from 'node:net';

export interface NewcomerLimits {
  /** How many there may be: in all, and of one source. */
  all: number;
  per_source: number;
  /** The time to authenticate. */
  time_ms: number;
}

interface Newcomer {
  source: string;
  timer: NodeJS.Timeout;
}

export class Newcomers {
  readonly #limits: NewcomerLimits;
  /** The oldest first. */
  readonly #all = new Map<Socket, Newcomer>();

  constructor(limits: NewcomerLimits) {
    this.#limits = limits;
  }

  /** Adds a connection, which is closed unless `remove` is called in time. When there are too many, an older one is closed to make room. */
  add(socket: Socket, source: string): void {
    const oldest = this.#inTheWayOf(source);
    if (oldest) {
      this.remove(oldest);
      oldest.destroy();
    }
    this.#all.set(socket, { source, timer: setTimeout(() => socket.destroy(), this.#limits.time_ms) });
  }

  /** Says whether it was one until now. */
  remove(socket: Socket): boolean {
    clearTimeout(this.#all.get(socket)?.timer);
    return this.#all.delete(socket);
  }

  /** Closes all. */
  close(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  /** The oldest of the source when that has too many, and of the source with the most when all are too many. */
  #inTheWayOf(source: string): Socket | undefined {
    const { all, per_source } = this.#limits;
    const bySource = Map.groupBy(this.#all.keys(), (socket) => this.#all.get(socket)!.source);
    const own = bySource.get(source) ?? [];
    if (own.length >= per_source) return own[0];
    if (this.#all.size < all) return undefined;
    return [...bySource.values()].reduce((most, each) => (each.length > most.length ? each : most))[0];
  }
}
