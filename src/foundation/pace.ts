/** The minimum transfer rate wherever this server waits for a peer: for the clients of its doors, and for the remote systems of its jobs. */

export interface Floor {
  window_ms: number;
  /** The minimum number of bytes per window. */
  least_bytes: number;
}

/** For remote systems of jobs: a slower one loses its place after a minute. */
export const slowest_bytes_per_s = 16 * 1024;
export const peerFloor: Floor = { window_ms: 60_000, least_bytes: 60 * slowest_bytes_per_s };

/** For a push until its pack arrives: git sends nothing while it compresses, which may take minutes. */
export const pushFloor: Floor = { window_ms: 600_000, least_bytes: 30 * 1024 };

const looks = 6;

/** The sampling interval, so that the end of a window is noticed soon. */
export const lookEvery_ms = ({ window_ms }: Floor): number => window_ms / looks;

/** Measures a transfer. */
export class SlowWatch {
  readonly #least_bytes: number;
  #count = 0;
  #began_bytes = 0;

  constructor({ least_bytes }: Floor) {
    this.#least_bytes = least_bytes;
  }

  /**
   * To be called every `lookEvery_ms`.
   * @param isWaiting whether we are waiting for the peer; a window counts only if we wait for the peer throughout
   * @param moved_bytes so far
   * @returns whether it was too slow in the window that ends now
   */
  look(isWaiting: boolean, moved_bytes: number): boolean {
    if (!isWaiting) {
      this.#count = 0;
      return false;
    }
    if (this.#count === 0) this.#began_bytes = moved_bytes;
    if (this.#count++ < looks) return false;
    const isSlow = moved_bytes - this.#began_bytes < this.#least_bytes;
    this.#count = 1;
    this.#began_bytes = moved_bytes;
    return isSlow;
  }
}

/**
 * Watches a transfer.
 * @param look returns whether we are waiting for the peer, and the bytes transferred so far
 * @returns a function that stops watching
 */
export function watchSpeed(
  floor: Floor,
  look: () => { isWaiting: boolean; moved_bytes: number },
  onSlow: () => void,
): () => void {
  const watch = new SlowWatch(floor);
  const timer = setInterval(() => {
    const { isWaiting, moved_bytes } = look();
    if (watch.look(isWaiting, moved_bytes)) onSlow();
  }, lookEvery_ms(floor)).unref();
  return () => clearInterval(timer);
}
