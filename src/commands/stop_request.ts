/** Detects stop requests: Ctrl-C, SIGTERM, a closed terminal, and the exit of the npm that started this process. */

export interface StopRequest {
  /** Resolves with the first signal. */
  first: Promise<void>;
  /** Resolves with the second signal: exit at once, but leave no process running. */
  second: Promise<void>;
  /** Whether the first signal has arrived. */
  readonly isStopping: boolean;
}

/**
 * Under npm, one Ctrl-C arrives twice: from the terminal, and again from npm. A signal that comes this shortly
 * after the first is the same one.
 */
const echo_ms = 700;

/** npm passes on SIGINT and SIGTERM, but not SIGHUP, and nothing when it is killed. */
const npmScripts = ['start', 'coppice'];
const parentPoll_ms = 500;

/** Calls `then` when the npm that runs one of our scripts has exited. */
function watchNpm(then: () => void): void {
  if (!npmScripts.includes(process.env.npm_lifecycle_event ?? '')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, parentPoll_ms).unref();
}

/** Takes over SIGINT, SIGTERM and SIGHUP. A third signal ends the process. */
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
  process.on('SIGHUP', hear);
  // A signal that both npm and this process received arrives once more in this way, perhaps later than an echo.
  watchNpm(() => {
    if (firstAt === undefined) hear();
  });
  return {
    first: first.promise,
    second: second.promise,
    get isStopping() {
      return firstAt !== undefined;
    },
  };
}
