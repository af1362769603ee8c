/** Graceful shutdown: every request that has reached the server is answered. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** How long a client with an open connection may be about to send its next request. */
const idle_ms = 1000;

/** A server that stays busy for this long may drop a connection, but does stop. */
const quiet_ms = 1000;
const emptyTurn_ms = 0.05;

export interface Drain {
  /** Resolves when all connections are closed. */
  closed: Promise<unknown>;
  /** Closes the remaining connections. */
  cutOff: Promise<unknown>;
}

/**
 * Stops accepting connections. Running requests are answered, and so are those that arrive on open connections, each as the last of its connection.
 * Connections that are idle for a second are closed.
 */
export async function drain(server: Server, cutOff: Promise<unknown>): Promise<void> {
  const isClosing = Promise.withResolvers<void>();
  answerLast(server);
  holdReplies(server, isClosing.promise);
  await quietMoment();
  // Of net, not of http: that one closes idle connections at once, also under a request that is on its way.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  isClosing.resolve();
  await closeConnections(server, { closed, cutOff });
}

/** From here on every reply closes its connection. */
export function answerLast(server: Server): void {
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
  });
}

/**
 * Keeps replies from ending until then. A client that waits for its reply opens no other connection, so that a moment without new ones comes soon even
 * where clients ask without pause.
 */
function holdReplies(server: Server, until: Promise<void>): void {
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.end = (...args: unknown[]) => {
      void until.then(() => end(...args));
      return response;
    };
  });
}

/**
 * Ends at a moment to stop listening: a connection that the kernel has taken but that is not accepted yet would be lost. A turn of the event loop that
 * took no time has found none.
 */
export async function quietMoment(): Promise<void> {
  const giveUpAt = performance.now() + quiet_ms;
  for (;;) {
    const before = performance.now();
    await nextTurn();
    const now = performance.now();
    if (now - before < emptyTurn_ms || now > giveUpAt) return;
  }
}

/** Waits for connections to close as `drain` describes, and closes the rest. */
export async function closeConnections(server: Server, { closed, cutOff }: Drain): Promise<void> {
  await Promise.race([closed, cutOff, sleep(idle_ms, undefined, { ref: false })]);
  server.closeIdleConnections();
  await Promise.race([closed, cutOff]);
  server.closeAllConnections();
}
