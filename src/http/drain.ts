/** Graceful shutdown: every request that has reached the server is answered. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endUpgraded } from './upgrades.ts';

/** How long to wait for the next request on an open connection. */
const idle_ms = 1000;

/** A client that has received its reply opens its next connection within this time, even on a busy machine. */
const usualQuiet_ms = 50;

/** After this time a busy server stops, even if it drops a connection. */
const patience_ms = 1000;
const emptyTurn_ms = 0.05;

const stopping = new WeakMap<Server, AbortController>();

function stopOf(server: Server): AbortController {
  const known = stopping.get(server);
  if (known) return known;
  const made = new AbortController();
  stopping.set(server, made);
  return made;
}

/** Whether a server answers its last requests. */
const isStopping = (server: Server): boolean => stopOf(server).signal.aborted;

const leaving = new WeakSet<Server>();

/** From now on the server says that it is not ready, so that load balancers send requests elsewhere. It answers all the same. */
export const leave = (server: Server): void => void leaving.add(server);
export const isLeaving = (server: Server): boolean => leaving.has(server) || isStopping(server);

/** Fires when a server begins to answer its last requests, so that what a request waits for need not come any more. */
export const stoppingOf = (server: Server): AbortSignal => stopOf(server).signal;

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
  answerLast(server, isClosing.promise);
  // Without clients there is nothing to wait for, and the next server expects a free port.
  const open = await promisify(server.getConnections.bind(server))();
  await quietMoment(server, open === 0 ? 0 : usualQuiet_ms);
  // The `close` of net, because the one of http closes idle connections at once, even when a request is on its way.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  isClosing.resolve();
  await closeConnections(server, { closed, cutOff });
}

/**
 * From now on every reply closes its connection, and is held back until then: a client that waits for a reply opens no further connection, so a moment without new
 * connections comes soon even under load.
 */
export function answerLast(server: Server, until: Promise<void>): void {
  stopOf(server).abort();
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.end = (...args: unknown[]) => {
      void until.then(() => end(...args));
      return response;
    };
  });
}

/**
 * Waits for a moment when listening can stop: a connection in the kernel's accept queue would be lost. No connection has arrived for a while then, and a turn of the
 * event loop was immediate, so the queue was empty.
 * @param quiet_ms how long no connection has arrived
 */
export async function quietMoment(server: NetServer, quiet_ms = usualQuiet_ms): Promise<void> {
  const giveUpAt = performance.now() + patience_ms;
  let newestAt = performance.now();
  const note = () => {
    newestAt = performance.now();
  };
  server.on('connection', note);
  for (;;) {
    await sleep(Math.max(0, Math.min(newestAt + quiet_ms, giveUpAt) - performance.now()));
    const before = performance.now();
    await nextTurn();
    const now = performance.now();
    if (now > giveUpAt || (now - before < emptyTurn_ms && now - newestAt >= quiet_ms)) break;
  }
  server.off('connection', note);
}

/** Waits for connections to close as `drain` describes, and closes the rest. */
export async function closeConnections(server: Server, { closed, cutOff }: Drain): Promise<void> {
  endUpgraded(server);
  await Promise.race([closed, cutOff, sleep(idle_ms, undefined, { ref: false })]);
  server.closeIdleConnections();
  await Promise.race([closed, cutOff]);
  server.closeAllConnections();
}
