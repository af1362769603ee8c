/** An SSH server that admits users by their public keys and runs commands of ours, never a shell (docs/reference/ssh.md). */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import ssh2, {
  type AuthContext,
  type ClientInfo,
  type Connection,
  type PublicKeyAuthContext,
  type ServerChannel,
  type Session,
} from 'ssh2';
import { cacheOf } from '../foundation/caches.ts';
import { sourceOf } from '../foundation/source_of.ts';
import { type NewcomerLimits, Newcomers } from './newcomers.ts';
import { isShort, publicKeyIn, type SshPublicKey } from './public_key.ts';
import { isSignedBySecurityKey } from './security_key.ts';

/** The request of a client, with its streams. */
export interface SshCommand {
  /** Undefined if a shell is requested. */
  line: string | undefined;
  /** The version of git's protocol that it asks for. */
  protocol: string | undefined;
  channel: ServerChannel;
  /** The origin of the connection, as `sourceOf` names it. */
  source: string;
  /** The address of the client. */
  address: string;
  /** Fires when the client disconnects. */
  signal: AbortSignal;
}

export interface SshServerOptions<Who> {
  /** A private key as OpenSSH writes them. */
  hostKey: string;
  /** How many connections a source may have open. */
  connectionsPerAddress: number;
  /** The limits of connections that are not authenticated yet, if they differ from the default. */
  newcomers?: NewcomerLimits;
  /**
   * Who has a public key, undefined for no one.
   * @param key its bytes, as in the second word of an `id_*.pub` file
   */
  identify(key: Buffer, address: string): Promise<Who | undefined>;
  /** Runs a command, and gives its exit status. */
  run(who: Who, command: SshCommand): Promise<number>;
  /** Receives errors of `identify` and `run`. */
  failed(error: unknown): void;
}

export interface SshServer {
  /** Serves a connection that was accepted elsewhere. */
  take(socket: Socket): void;
  /** Accepts no more connections; the open ones end when their commands have, or when `cutOff` resolves. */
  close(cutOff: Promise<unknown>): Promise<void>;
}

/** The user name that everyone uses; the key identifies the user. */
const sharedUsername = 'git';
const usualNewcomers: NewcomerLimits = { all: 300, per_source: 50, time_ms: 30_000 };
/** An agent may offer several keys before the right one. */
const maximumAttempts = 20;
/** Connections in a row from a source that ended without a known key. */
const maximumFailures = 30;
const failureWindow_ms = 600_000;
const sessionsPerConnection = 10;
const keepalive_s = 60;

/** What current OpenSSH offers, without SHA-1, CBC and short groups. The library has no post-quantum key exchange. */
const algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
  ],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} as const;

/**
 * Whether a key may connect: not with short RSA keys, nor with RSA and SHA-1 (`ssh-rsa`), whose signatures can be forged.
 * @param hashAlgo the hash function of an RSA signature other than SHA-1
 */
const isStrong = (key: SshPublicKey, hashAlgo: string | undefined) =>
  !isShort(key) && (key.type !== 'ssh-rsa' || hashAlgo !== undefined);

/** Whether the holder of a key has signed the bytes of a connection. */
function isSigned(
  found: SshPublicKey,
  key: Buffer,
  { signature, blob, hashAlgo }: { signature: Buffer; blob: Buffer; hashAlgo: string | undefined },
): boolean {
  if (found.application) return isSignedBySecurityKey(found, signature, blob);
  const parsed = ssh2.utils.parseKey(key);
  return !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo) === true;
}

const placeOf = (address: string, port: number | undefined) => `${address} ${port}`;

/** The state of one server about its connections. */
class Connections<Who> {
  readonly #options: SshServerOptions<Who>;
  readonly #newcomers: Newcomers;
  /** By address and port of the client, the only facts that the library gives about a connection. */
  readonly #sockets = new Map<string, Socket>();
  readonly #greeted = new WeakSet<Socket>();
  readonly #open = new Map<string, number>();
  readonly #failures = cacheOf<string, number>(10_000, { ttl: failureWindow_ms });
  readonly #all = new Set<Connection>();
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: SshServerOptions<Who>) {
    this.#options = options;
    this.#newcomers = new Newcomers(options.newcomers ?? usualNewcomers);
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await promise;
  }

  /** Counts a connection that was just accepted. One that exceeds a limit gets no message. */
  admits(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined) return false; // it has just ended
    const source = sourceOf(remoteAddress);
    const open = this.#open.get(source) ?? 0;
    if (open >= this.#options.connectionsPerAddress || (this.#failures.get(source) ?? 0) >= maximumFailures)
      return false;
    const place = placeOf(remoteAddress, remotePort);
    this.#open.set(source, open + 1);
    this.#sockets.set(place, socket);
    this.#newcomers.add(socket, source);
    socket.once('close', () => {
      // Those that were closed to make room have not failed, and by connecting without a word load balancers look whether the port is open.
      const hasFailed = this.#newcomers.remove(socket) && this.#greeted.has(socket);
      if (hasFailed) this.#failures.set(source, (this.#failures.get(source) ?? 0) + 1);
      this.#sockets.delete(place);
      const left = this.#open.get(source)! - 1;
      if (left === 0) this.#open.delete(source);
      else this.#open.set(source, left);
    });
    return true;
  }

  /** Serves a connection whose client has said that it speaks SSH. */
  greet(client: Connection, { ip, port }: ClientInfo): void {
    const source = sourceOf(ip);
    const socket = this.#sockets.get(placeOf(ip, port))!;
    this.#greeted.add(socket);
    client.on('error', () => {});
    this.#all.add(client);
    client.once('close', () => this.#all.delete(client));
    this.#authenticate(client, ip, (who) => {
      this.#newcomers.remove(socket);
      this.#failures.delete(source);
      this.#serve(client, who, { source, address: ip });
    });
  }

  /** Resolves when all connections are closed. */
  async close(): Promise<void> {
    this.#newcomers.close();
    const ended = [...this.#all].map((client) => once(client, 'close'));
    for (const client of this.#all) client.end();
    await Promise.all(ended);
  }

  #authenticate(client: Connection, address: string, ready: (who: Who) => void): void {
    let who: Who | undefined;
    let attempts = 0;
    client.on('authentication', (context: AuthContext) => {
      if (++attempts > maximumAttempts) return void client.end();
      if (context.method !== 'publickey' || context.username !== sharedUsername) return context.reject(['publickey']);
      void this.#holderOf(context, address).then((holder) => {
        if (holder === undefined) return context.reject(['publickey']);
        if (context.signature) who = holder;
        context.accept();
      });
    });
    client.once('ready', () => {
      if (who === undefined) client.end();
      else ready(who);
    });
  }

  /** Who has the key. Without a signature the client only asks whether the key would do. */
  async #holderOf({ key, signature, blob, hashAlgo }: PublicKeyAuthContext, address: string): Promise<Who | undefined> {
    try {
      const found = publicKeyIn(key.data);
      if (!found || !isStrong(found, hashAlgo)) return undefined;
      if (signature && !isSigned(found, key.data, { signature, blob: blob!, hashAlgo })) return undefined;
      return await this.#options.identify(key.data, address);
    } catch (error) {
      this.#options.failed(error);
      return undefined;
    }
  }

  #serve(client: Connection, who: Who, from: Pick<SshCommand, 'source' | 'address'>): void {
    const gone = new AbortController();
    client.once('close', () => gone.abort());
    let sessions = 0;
    client.on('session', (accept, reject) => {
      if (++sessions > sessionsPerConnection) return void reject();
      this.#listen(accept(), who, { ...from, signal: gone.signal });
    });
  }

  #listen(session: Session, who: Who, by: Pick<SshCommand, 'source' | 'address' | 'signal'>): void {
    let protocol: string | undefined;
    let hasCommand = false;
    session.on('env', (accept, _reject, { key, val }: { key: string; val: unknown }) => {
      if (key === 'GIT_PROTOCOL') protocol = String(val);
      accept?.();
    });
    session.on('pty', (accept) => accept?.());
    const run = (line: string | undefined, accept: () => ServerChannel, reject: () => void) => {
      if (hasCommand) return reject();
      hasCommand = true;
      const channel = accept();
      channel.on('error', () => {}); // the client has disconnected; the signal reports it
      void this.#run(who, { line, protocol, channel, ...by });
    };
    session.on('exec', (accept, reject, { command }) => run(command, accept, reject));
    session.on('shell', (accept, reject) => run(undefined, accept, reject));
  }

  async #run(who: Who, command: SshCommand): Promise<void> {
    this.#running++;
    const { channel } = command;
    try {
      channel.exit(await this.#options.run(who, command));
    } catch (error) {
      this.#options.failed(error);
      channel.exit(1);
    }
    channel.end();
    this.#running--;
    if (this.#running === 0) this.#onIdle?.();
  }
}

/** A server that listens nowhere: it is given its connections. */
export function sshServer<Who>(options: SshServerOptions<Who>): SshServer {
  const connections = new Connections(options);
  const server = new ssh2.Server(
    {
      hostKeys: [options.hostKey],
      ident: 'Coppice',
      algorithms: structuredClone(algorithms) as never,
      keepaliveInterval: keepalive_s * 1000,
    },
    (client, info) => connections.greet(client, info),
  );
  server.on('error', options.failed);
  let isClosed = false;
  return {
    take(socket) {
      if (isClosed || !connections.admits(socket)) socket.destroy();
      else {
        server.injectSocket(socket);
        socket.resume(); // it may have been accepted in pause
      }
    },
    async close(cutOff) {
      isClosed = true;
      await Promise.race([connections.idle(), cutOff]);
      await Promise.race([connections.close(), cutOff]);
    },
  };
}
