/** Limits the open connections of each address and, behind a trusted proxy, the concurrent requests of each client (docs/operating.md#limits). */
import { BlockList, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plainAddress, sourceOf } from '../foundation/source_of.ts';
import { ApiError } from './errors.ts';

/** The named networks of COPPICE_TRUSTED_PROXIES. */
const named: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function listOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies.flatMap((each) => named[each] ?? each)) {
    const [address = '', prefix] = proxy.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

/** Counts by source. */
class Counter {
  readonly #counts = new Map<string, number>();
  readonly #most: number;
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds one, or returns undefined at the limit. */
  enter(address: string): Place | undefined {
    const source = sourceOf(address);
    const count = this.#counts.get(source) ?? 0;
    if (count >= this.#most) return undefined;
    this.#counts.set(source, count + 1);
    return new Place(() => this.#leave(source));
  }

  #leave(source: string): void {
    const count = this.#counts.get(source)! - 1;
    if (count === 0) this.#counts.delete(source);
    else this.#counts.set(source, count);
  }
}

/** The source that a connection or request is counted for. */
class Place {
  readonly #leave: () => void;
  #isHeld = false;
  #isOver = false;
  constructor(leave: () => void) {
    this.#leave = leave;
  }

  end(): void {
    this.#isOver = true;
    if (!this.#isHeld) this.#leave();
  }

  /** Counted until `work` is done, even if the connection ends earlier. */
  async hold(work: Promise<unknown>): Promise<void> {
    this.#isHeld = true;
    await work;
    this.#isHeld = false;
    if (this.#isOver) this.#leave();
  }
}

const refusal = '{"message":"503 Service Unavailable - Too many connections from this address"}';
const refusalReply = [
  'HTTP/1.1 503 Service Unavailable',
  'Content-Type: application/json',
  `Content-Length: ${refusal.length}`,
  'Retry-After: 1',
  'Connection: close',
  '',
  refusal,
].join('\r\n');

/** The time that a refused client has to read the refusal. */
const refusalTimeout_ms = 2000;
/** The maximum number of refused clients that are given this time; beyond it, connections are closed without a reply, because each occupies a file descriptor. */
const maximumRefused = 1000;

/** @returns refuses a connection */
function refuser(): (socket: Socket) => void {
  let refused = 0;
  return (socket) => {
    socket.on('error', () => {}); // a client that has disconnected needs no answer
    if (refused >= maximumRefused) {
      socket.destroy();
      return;
    }
    refused++;
    const timer = setTimeout(() => socket.destroy(), refusalTimeout_ms);
    socket.once('close', () => {
      clearTimeout(timer);
      refused--;
    });
    socket.end(refusalReply);
    // Closing a socket with unread bytes would reset the connection before the client has read the answer.
    socket.resume();
  };
}

export interface ConnectionLimits {
  most: number;
  /** The value of COPPICE_TRUSTED_PROXIES. */
  trustedProxies: readonly string[];
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Delays the answer to a request. Meanwhile nothing more is read from its connection, which stays counted even if the client closes it: otherwise the client
     * could reconnect at once.
     */
    hold(request: FastifyRequest, pause_ms: number): Promise<void>;
  }
}

/** Limits the connections of `app`. */
export function limitConnections(app: FastifyInstance, { most, trustedProxies }: ConnectionLimits): void {
  const proxies = listOf(trustedProxies);
  const isProxy = (address: string) => trustedProxies.length > 0 && proxies.check(address, familyOf(address));
  const places = new WeakMap<object, Place>();
  const connections = new Counter(most);
  const refuse = refuser();
  const admits = (socket: Socket): boolean => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (isIP(address) === 0 || isProxy(address)) return true;
    const place = connections.enter(address);
    if (place === undefined) return false;
    places.set(socket, place);
    socket.once('close', () => place.end());
    return true;
  };
  // The listeners of the server itself prepare to read requests, which costs several times as much as the refusal.
  const listeners = app.server.listeners('connection');
  app.server.removeAllListeners('connection');
  app.server.on('connection', (socket: Socket) => {
    if (admits(socket)) for (const listener of listeners) listener.call(app.server, socket);
    else refuse(socket);
  });
  const requests = new Counter(most);
  app.addHook('onRequest', ({ ip, raw }, reply, done) => {
    if (!isProxy(plainAddress(raw.socket.remoteAddress ?? ''))) return done();
    const place = requests.enter(ip);
    if (place === undefined)
      return done(
        new ApiError(
          503,
          { message: '503 Service Unavailable - Too many requests of this client' },
          { 'retry-after': '1' },
        ),
      );
    places.set(raw, place);
    reply.raw.once('close', () => place.end());
    done();
  });
  app.decorate('hold', async ({ raw }: FastifyRequest, pause_ms: number) => {
    const { socket } = raw;
    socket.pause();
    const over = sleep(pause_ms);
    await ((places.get(raw) ?? places.get(socket))?.hold(over) ?? over);
    socket.resume();
  });
}
