/** Ctrl-C and SIGTERM. */

export interface StopRequest {
  /** Resolves with the first signal. */
  first: Promise<void>;
  /** Resolves with the second one: exit at once, but leave nothing running. */
  second: Promise<void>;
  /** Whether the first signal has arrived. */
  readonly isStopping: boolean;
}

/**
 * Under npm, one Ctrl-C arrives twice: from the terminal, and again from npm. A signal that comes this shortly
 * after the first is the same one.
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
