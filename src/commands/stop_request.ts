/** Ctrl-C and SIGTERM. */

export interface StopRequest {
  /** Fulfilled by the first signal. */
  first: Promise<void>;
  /** Fulfilled by a second one: leave at once, but leave nothing running. */
  second: Promise<void>;
  /** Whether the first has come. */
  readonly isStopping: boolean;
}

/**
 * One Ctrl-C arrives twice under npm, which gets it from the terminal like we do and then passes it on. What comes this shortly
 * after the first is not a second wish.
 */
const echo_ms = 700;

/** Takes over SIGINT and SIGTERM. A third signal ends the process. */
export function listenForStop(): StopRequest {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  let isUrgent = false;
  const hear = () => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      first.resolve();
    } else if (now - firstAt > echo_ms) {
      if (isUrgent) process.exit(130);
      isUrgent = true;
      firstAt = now;
      second.resolve();
    }
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
  return {
    first: first.promise,
    second: second.promise,
    get isStopping() {
      return firstAt !== undefined;
    },
  };
}
