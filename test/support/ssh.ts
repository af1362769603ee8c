/** The SSH server beside a world, and people with keys. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';
import { type Elsewhere, gitOverSsh } from '../../src/areas/code/repository/index.ts';
import { gitKinds } from '../../src/areas/index.ts';
import { privateKeyText, type SshServerOptions } from '../../src/ssh/index.ts';
import { sshServer } from '../../src/ssh/server.ts';
import { compileCache } from './compile_cache.ts';
import { atFileEnd } from './file_end.ts';
import type { Persona, World } from './world.ts';

const program = path.join(import.meta.dirname, 'ssh_client.ts');

/** A new key: the file of its private half, and the line of its public one. */
export async function newSshKey(): Promise<{ file: string; line: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-ssh-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'id_ed25519');
  const text = privateKeyText(generateKeyPairSync('ed25519').privateKey);
  await writeFile(file, text, { mode: 0o600 });
  return { file, line: publicLine(text) };
}

function publicLine(privateText: string): string {
  const key = ssh2.utils.parseKey(privateText);
  if (key instanceof Error) throw key;
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

/** The settings of git that make it connect with a key. */
export const withKey = (file: string, hostKey?: string): string[] => {
  const variables = { ...compileCache, SSH_KEY: file, ...(hostKey === undefined ? {} : { SSH_HOST_KEY: hostKey }) };
  const environment = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  return ['-c', `core.sshCommand=${environment.join(' ')} '${process.execPath}' '${program}'`, '-c', 'ssh.variant=ssh'];
};

export interface SshWorld {
  port: number;
  /** Base64 of the server's public key. */
  hostKey: string;
  /** Stops the server, once no command runs. */
  stop(): Promise<void>;
  /** The address of the world's project, or of another path. */
  remote(path?: string): string;
  /** Adds a new key to a person. */
  keyOf(persona: Persona, more?: Record<string, string>): Promise<{ id: number; file: string; line: string }>;
}

/** Starts the SSH server of a world. */
export async function sshFor(
  { services, as, project }: World,
  { elsewhere, ...options }: Pick<SshServerOptions<number>, 'newcomers'> & { elsewhere?: Elsewhere } = {},
): Promise<SshWorld> {
  const hostKey = privateKeyText(services.secrets.signingKeyFor('ssh host key'));
  const errors: unknown[] = [];
  const server = sshServer({
    hostKey,
    connectionsPerAddress: 100,
    ...options,
    ...gitOverSsh({ services, kinds: gitKinds, elsewhere, log: { error: ({ err }) => errors.push(err) } }),
  });
  const listener = createServer({ pauseOnConnect: true, noDelay: true }, server.take).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  atFileEnd(async () => {
    listener.close();
    await server.close(Promise.resolve());
    if (errors.length > 0) throw new AggregateError(errors, 'the SSH server met errors');
  });
  return {
    port,
    stop: () => server.close(new Promise(() => {})),
    hostKey: publicLine(hostKey).split(' ')[1]!,
    remote: (at = project.full_path) => `ssh://git@127.0.0.1:${port}/${at}.git`,
    async keyOf(persona, more = {}) {
      const key = await newSshKey();
      const { status, body } = await as(persona).post('/user/keys', { title: 'laptop', key: key.line, ...more });
      if (status !== 201) throw new Error(`the key was refused: ${JSON.stringify(body)}`);
      return { id: body.id, ...key };
    },
  };
}
