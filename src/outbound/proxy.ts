/** A proxy for one program that connects to another system itself, such as git: it resolves and checks each address, and counts the bytes. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type LookupFunction, type Socket } from 'node:net';
import { type Duplex, pipeline, Transform } from 'node:stream';
import { localTargetOf, localTexts } from './addresses.ts';
import { BlockedError, guardedLookup, OutboundError, ResponseTooLong, reasonOf } from './opening.ts';

export interface ProxyRules {
  /** The URL whose host and port are the only ones that the proxy connects to. */
  url: string;
  /** Whether the settings of the server allow addresses of the local network. */
  may_be_local: boolean;
  /** The maximum number of bytes from the remote system in total. */
  most_bytes: number;
}

/** A connection that stands still is closed. */
const idle_ms = 120_000;

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

class GuardedProxy {
  /** The error of the first failed connection. */
  problem: OutboundError | undefined;
  readonly #url: URL;
  readonly #rules: ProxyRules;
  readonly #authorization: Buffer;
  readonly #open = new Set<Duplex>();
  readonly #server: Server;
  #received_bytes = 0;

  constructor(rules: ProxyRules, secret: string) {
    this.#url = new URL(rules.url);
    this.#rules = rules;
    this.#authorization = Buffer.from(`Basic ${Buffer.from(`coppice:${secret}`).toString('base64')}`);
    this.#server = createServer((request, response) => this.#forward(request, response));
    this.#server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) =>
      this.#tunnel(request, client, head),
    );
    this.#server.on('connection', (socket) => this.#keep(socket));
  }

  /** @returns the port of this machine */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #keep(socket: Socket): void {
    this.#open.add(socket.setTimeout(idle_ms, () => socket.destroy()));
    socket.on('error', () => {}); // The other side of it is closed, too.
    socket.once('close', () => this.#open.delete(socket));
  }

  #mayUse({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === this.#authorization.length && timingSafeEqual(given, this.#authorization);
  }

  /** Undefined when the address is allowed as it is written. */
  #refusal(target: URL | null): OutboundError | undefined {
    if (target?.hostname !== this.#url.hostname || portOf(target) !== portOf(this.#url))
      return new OutboundError('Requests to another host are not allowed');
    const local = this.#rules.may_be_local ? undefined : localTargetOf(target.hostname);
    return local === undefined ? undefined : new BlockedError(localTexts[local]);
  }

  get #lookup(): { lookup?: LookupFunction } {
    return this.#rules.may_be_local ? {} : { lookup: guardedLookup as LookupFunction };
  }

  #fail(error: unknown): OutboundError {
    const problem = error instanceof OutboundError ? error : new OutboundError(reasonOf(error));
    this.problem ??= problem;
    return problem;
  }

  /** Closes all connections when the remote system has sent too much. */
  #counter(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#received_bytes += chunk.length;
        if (this.#received_bytes <= this.#rules.most_bytes) return done(null, chunk);
        done(this.#fail(new ResponseTooLong(this.#rules.most_bytes)));
        this.close();
      },
    });
  }

  #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): void {
    const refuse = (line: string) => client.end(`HTTP/1.1 ${line}\r\n\r\n`);
    if (!this.#mayUse(request)) return void refuse('407 Proxy Authentication Required\r\nProxy-Authenticate: Basic');
    const refusal = this.#refusal(URL.parse(`https://${request.url}`));
    if (refusal) {
      this.#fail(refusal);
      return void refuse('403 Forbidden');
    }
    const host = this.#url.hostname.replace(/^\[(.*)\]$/, '$1');
    const server = connect({ host, port: portOf(this.#url), ...this.#lookup });
    this.#keep(server);
    server.once('error', (error) => {
      this.#fail(error);
      refuse('502 Bad Gateway');
    });
    server.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      server.write(head);
      pipeline(client, server, () => {});
      pipeline(server, this.#counter(), client, () => {});
    });
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#mayUse(request)) return void response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
    const target = URL.parse(request.url ?? '');
    const refusal = target?.protocol === 'http:' ? this.#refusal(target) : new OutboundError('Only http is forwarded');
    if (refusal) {
      this.#fail(refusal);
      return void response.writeHead(403).end();
    }
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = request.headers;
    const upstream = requestPlain(target!, { method: request.method, headers, agent: false, ...this.#lookup });
    upstream.setTimeout(idle_ms, () => upstream.destroy(new OutboundError('The source sent nothing for two minutes')));
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      pipeline(answer, this.#counter(), response, () => {});
    });
    upstream.once('error', (error) => {
      this.#fail(error);
      response.destroy();
    });
    pipeline(request, upstream, () => {});
  }
}

/**
 * Runs a program that reaches one other system through a proxy of this process, and nothing else.
 * @param run is given the URL of the proxy with its credential
 * @throws BlockedError, OutboundError when there is no connection or another host is asked for, ResponseTooLong when the other system has sent too much; otherwise
 *   what `run` throws
 */
export async function throughProxy<Result>(
  rules: ProxyRules,
  run: (proxy_url: string) => Promise<Result>,
): Promise<Result> {
  const secret = randomBytes(24).toString('hex');
  const proxy = new GuardedProxy(rules, secret);
  const port = await proxy.listen();
  try {
    return await run(`http://coppice:${secret}@127.0.0.1:${port}`);
  } catch (error) {
    throw proxy.problem ?? error;
  } finally {
    proxy.close();
  }
}
