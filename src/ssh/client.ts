/** An SSH client that runs one command of another system, with a key or a password. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientChannel, ServerHostKeyAlgorithm } from 'ssh2';

export interface SshLogin {
  username: string;
  /** A private key as OpenSSH writes them. */
  private_key: string | undefined;
  password: string | undefined;
  /** The types of the host keys that are known; empty for any. */
  host_types: readonly string[];
  /**
   * Whether a host key is the right one.
   * @param key its bytes, as in a line of `known_hosts`
   */
  isHost(key: Buffer): boolean;
}

/** The remote system is the wrong one, or refuses the login. The message is a sentence for people. */
export class SshRefused extends Error {
  override name = 'SshRefused';
}

const ready_ms = 30_000;

/** The algorithms by which a host proves that it has a key of a type. */
const algorithmsOf = (type: string): ServerHostKeyAlgorithm[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type as ServerHostKeyAlgorithm];

/**
 * Runs a command.
 * @param socket a connection; it is closed when the command has ended
 * @param protocol the version of git's protocol that is asked for
 * @returns its standard streams
 * @throws SshRefused; errors of the connection
 */
export async function runOverSsh(
  socket: Socket,
  { username, private_key, password, host_types, isHost }: SshLogin,
  { line, protocol }: { line: string; protocol: string | undefined },
): Promise<Duplex> {
  const { default: ssh2 } = await import('ssh2');
  const client = new ssh2.Client();
  let isOther = false;
  // Errors after the command has started end its channel.
  client.on('error', () => {});
  client.once('close', () => socket.destroy());
  try {
    client.connect({
      sock: socket,
      username,
      readyTimeout: ready_ms,
      hostVerifier: (key: Buffer) => {
        isOther = !isHost(key);
        return !isOther;
      },
      ...(host_types.length === 0 ? {} : { algorithms: { serverHostKey: host_types.flatMap(algorithmsOf) } }),
      ...(private_key === undefined ? {} : { privateKey: private_key }),
      ...(password === undefined ? {} : { password }),
    });
    await once(client, 'ready');
    const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>();
    const env = protocol === undefined ? {} : { env: { GIT_PROTOCOL: protocol } };
    client.exec(line, env, (error, channel) => (error ? reject(error) : resolve(channel)));
    const channel = await promise;
    channel.stderr.resume();
    channel.once('close', () => client.end());
    return channel;
  } catch (error) {
    client.destroy();
    if (isOther) throw new SshRefused('The host key of the other system is not the one that is known');
    if ((error as { level?: string }).level === 'client-authentication')
      throw new SshRefused('The other system refused the key or password');
    throw error;
  }
}
