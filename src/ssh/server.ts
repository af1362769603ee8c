/** An SSH server that admits users by their public keys and runs commands of ours, never a shell (docs/reference/ssh.md). */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type PublicKeyAuthContext, type ServerChannel, type Session } from 'ssh2';
import { cacheOf } from '../caches.ts';
import { publicKeyIn } from './public_key.ts';
import { isSignedBySecurityKey } from './security_key.ts';

/** What a client asks to run, with its streams. */
export interface SshCommand {
  /** Undefined where a shell is asked for. */
  line: string | undefined;
  /** The version of git's protocol that it asks for. */
  protocol: string | undefined;
  channel: ServerChannel;
  /** Fires when the client disconnects. */
  signal: AbortSignal;
}

export interface SshServerOptions<Who> {
  /** A private key as OpenSSH writes them. */
  hostKey: string;
  /** How many connections an address may have open. */
  connectionsPerAddress: number;
  /**
   * Who has a public key, undefined for nobody.
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
  /** Takes no more; the connections end when their commands have, or when `cutOff` resolves. */
  close(cutOff: Promise<unknown>): Promise<void>;
}

/** The name that all users share; the key tells who it is. */
const sharedUsername = 'git';
const authentication_ms = 30_000;
/** An agent may offer several keys before the right one. */
const mostAttempts = 20;
/** Connections in a row from an address that ended without a known key. */
const mostFailures = 30;
const failureWindow_ms = 600_000;
/** Connections that nobody has authenticated yet, of all addresses. */
const mostUnknown = 100;
const sessionsPerConnection = 10;
const keepalive_s = 60;

/** What current OpenSSH offers, without SHA-1, CBC and short groups. */
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

/** Whether the holder of a key has signed the bytes of a connection. */
function isSigned(
  key: Buffer,
  { signature, blob, hashAlgo }: { signature: Buffer; blob: Buffer; hashAlgo: string | undefined },
): boolean {
  const found = publicKeyIn(key);
  if (found?.application) return isSignedBySecurityKey(found, signature, blob);
  const parsed = ssh2.utils.parseKey(key);
  return !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo) === true;
}

/** Holds what one server knows of its connections. */
class Connections<Who> {
  readonly #options: SshServerOptions<Who>;
  readonly #open = new Map<string, number>();
  readonly #failures = cacheOf<string, number>(10_000, { ttl: failureWindow_ms });
  readonly all = new Set<Connection>();
  #unknown = 0;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: SshServerOptions<Who>) {
    this.#options = options;
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await promise;
  }

  admit(client: Connection, address: string): void {
    // A client that exceeds a limit gets no message; the connection is just closed.
    client.on('error', () => {});
    const open = this.#open.get(address) ?? 0;
    const isTooMany = open >= this.#options.connectionsPerAddress || this.#unknown >= mostUnknown;
    if (isTooMany || (this.#failures.get(address) ?? 0) >= mostFailures) return void client.end();
    this.#open.set(address, open + 1);
    this.#unknown++;
    this.all.add(client);
    let isKnown = false;
    const leaveUnknown = () => {
      if (!isKnown) this.#unknown--;
      isKnown = true;
    };
    const timer = setTimeout(() => client.end(), authentication_ms);
    client.once('close', () => {
      clearTimeout(timer);
      this.all.delete(client);
      if (!isKnown) this.#failures.set(address, (this.#failures.get(address) ?? 0) + 1);
      leaveUnknown();
      const left = (this.#open.get(address) ?? 1) - 1;
      if (left === 0) this.#open.delete(address);
      else this.#open.set(address, left);
    });
    this.#authenticate(client, address, (who) => {
      clearTimeout(timer);
      leaveUnknown();
      this.#failures.delete(address);
      this.#serve(client, who);
    });
  }

  #authenticate(client: Connection, address: string, ready: (who: Who) => void): void {
    let who: Who | undefined;
    let attempts = 0;
    client.on('authentication', (context: AuthContext) => {
      if (++attempts > mostAttempts) return void client.end();
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
      if (signature && !isSigned(key.data, { signature, blob: blob!, hashAlgo })) return undefined;
      return await this.#options.identify(key.data, address);
    } catch (error) {
      this.#options.failed(error);
      return undefined;
    }
  }

  #serve(client: Connection, who: Who): void {
    const gone = new AbortController();
    client.once('close', () => gone.abort());
    let sessions = 0;
    client.on('session', (accept, reject) => {
      if (++sessions > sessionsPerConnection) return void reject();
      this.#listen(accept(), who, gone.signal);
    });
  }

  #listen(session: Session, who: Who, signal: AbortSignal): void {
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
      channel.on('error', () => {}); // the client is gone; `signal` says so
      void this.#run(who, { line, protocol, channel, signal });
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
    (client, { ip }) => connections.admit(client, ip),
  );
  server.on('error', options.failed);
  let isClosed = false;
  return {
    take(socket) {
      if (isClosed) socket.destroy();
      else {
        server.injectSocket(socket);
        socket.resume(); // it may have been accepted in pause
      }
    },
    async close(cutOff) {
      isClosed = true;
      await Promise.race([connections.idle(), cutOff]);
      const ended = [...connections.all].map((client) => once(client, 'close'));
      for (const client of connections.all) client.end();
      await Promise.race([Promise.all(ended), cutOff]);
    },
  };
}
