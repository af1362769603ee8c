/** Limits the open connections of each address and, behind a trusted proxy, the concurrent requests of each client (docs/operating.md#limits). */
import { BlockList, isIP, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
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

/** Undoes the mapping of IPv4 addresses to IPv6 on dual-stack sockets. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Counts by address. */
class Counter {
  readonly #counts = new Map<string, number>();
  readonly #most: number;
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds one, or returns false at the limit. Every addition must be followed by `leave`. */
  enter(address: string): boolean {
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#most) return false;
    this.#counts.set(address, count + 1);
    return true;
  }

  leave(address: string): void {
    const count = this.#counts.get(address)! - 1;
    if (count === 0) this.#counts.delete(address);
    else this.#counts.set(address, count);
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

export interface ConnectionLimits {
  most: number;
  /** The value of COPPICE_TRUSTED_PROXIES. */
  trustedProxies: readonly string[];
}

/** Limits the connections of `app`. */
export function limitConnections(app: FastifyInstance, { most, trustedProxies }: ConnectionLimits): void {
  const proxies = listOf(trustedProxies);
  const isProxy = (address: string) => proxies.check(address, familyOf(address));
  const connections = new Counter(most);
  app.server.on('connection', (socket: Socket) => {
    const address = plain(socket.remoteAddress ?? '');
    if (isIP(address) === 0 || isProxy(address)) return;
    if (!connections.enter(address)) {
      socket.end(refusalReply);
      return;
    }
    socket.once('close', () => connections.leave(address));
  });
  const requests = new Counter(most);
  app.addHook('onRequest', ({ ip, raw }, reply, done) => {
    if (trustedProxies.length === 0 || !isProxy(plain(raw.socket.remoteAddress ?? ''))) return done();
    if (!requests.enter(ip))
      return done(
        new ApiError(503, { message: '503 Service Unavailable - Too many requests of this client' }, { 'retry-after': '1' }),
      );
    reply.raw.once('close', () => requests.leave(ip));
    done();
  });
}
