/** How fast bytes must move at least, wherever this server waits for somebody else: for the clients of its doors, and for the other systems of its jobs. */

export interface Floor {
  window_ms: number;
  /** The least that must move in a window. */
  least_bytes: number;
}

/** Other systems of jobs: whoever is slower loses the place after a minute. */
export const slowest_bytes_per_s = 16 * 1024;
export const peerFloor: Floor = { window_ms: 60_000, least_bytes: 60 * slowest_bytes_per_s };

/** A push until its pack arrives: git sends nothing while it compresses, which may take minutes. */
export const pushFloor: Floor = { window_ms: 600_000, least_bytes: 30 * 1024 };

const looks = 6;

/** How often to look, so that a window ends soon after it is over. */
export const lookEvery_ms = ({ window_ms }: Floor): number => window_ms / looks;

/** Looks at something that moves. */
export class SlowWatch {
  readonly #least_bytes: number;
  #count = 0;
  #began_bytes = 0;

  constructor({ least_bytes }: Floor) {
    this.#least_bytes = least_bytes;
  }

  /**
   * To be called every `lookEvery_ms`.
   * @param isWaiting whether it is the other side that keeps us waiting; a window is one through which it does
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
 * Watches something that moves.
 * @param look gives whether the other side keeps us waiting, and how much has moved so far
 * @returns ends the watch
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
