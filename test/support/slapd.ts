/** Debian's slapd, a directory that speaks LDAP: its packages are unpacked once and kept, where it is not installed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'ldapts';
import { keptFolder, type Missing, missing } from '../clients/installed.ts';
import { rsaSigned } from './certificate.ts';

const run = promisify(execFile);
/** What slapd needs besides what every system has. */
const packages = ['slapd', 'libldap-2.5-0', 'libltdl7', 'libwrap0', 'libnsl2', 'libsasl2-2', 'libodbc2'];

async function unpacked(): Promise<{ root: string } | Missing> {
  try {
    const root = await keptFolder(`slapd ${process.arch}`, async (draft) => {
      // Programs of a distribution are fetched by its own client.
      await run('apt-get', ['update']).catch(() => undefined);
      await run('apt-get', ['download', ...packages], { cwd: draft });
      for (const file of (await readdir(draft)).filter((name) => name.endsWith('.deb'))) {
        await run('dpkg', ['-x', path.join(draft, file), draft]);
        await rm(path.join(draft, file));
      }
    });
    return { root };
  } catch (error) {
    return missing('slapd', error);
  }
}

export interface Directory {
  /** `host:port` without encryption, and with TLS from the start. */
  host: string;
  secure_host: string;
  /** The folder with the certificate of the authority. */
  ca_file: string;
  /** Changes entries as their administrator. */
  admin: Client;
  stop(): Promise<void>;
}

export const directoryBase = 'dc=example,dc=com';
export const directoryAdmin = { bind_dn: `cn=admin,${directoryBase}`, password: 'a secret of the directory' };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
  }
}

export async function startSlapd(): Promise<Directory | Missing> {
  const made = await unpacked();
  if ('missing' in made) return made;
  const { root } = made;
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-slapd-'));
  const at = (name: string) => path.join(folder, name);
  await mkdir(at('data'));
  const [{ key, cert }] = rsaSigned;
  await writeFile(at('key.pem'), key, { mode: 0o600 });
  await writeFile(at('cert.pem'), cert);
  const schema = path.join(root, 'etc/ldap/schema');
  await writeFile(
    at('slapd.conf'),
    `include ${schema}/core.schema
include ${schema}/cosine.schema
include ${schema}/inetorgperson.schema
modulepath ${root}/usr/lib/ldap
moduleload back_mdb
pidfile ${at('pid')}
TLSCertificateFile ${at('cert.pem')}
TLSCertificateKeyFile ${at('key.pem')}
database mdb
suffix "${directoryBase}"
rootdn "${directoryAdmin.bind_dn}"
rootpw "${directoryAdmin.password}"
directory ${at('data')}
access to attrs=userPassword by anonymous auth by * none
access to * by * read
`,
  );
  const [port, secure] = [await freePort(), await freePort()];
  const libraries = [
    'usr/lib/x86_64-linux-gnu',
    'usr/lib/aarch64-linux-gnu',
    'lib/x86_64-linux-gnu',
    'lib/aarch64-linux-gnu',
  ]
    .map((name) => path.join(root, name))
    .filter((name) => existsSync(name));
  const program = spawn(
    path.join(root, 'usr/sbin/slapd'),
    ['-f', at('slapd.conf'), '-h', `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${secure}`, '-d', '0'],
    { env: { ...process.env, LD_LIBRARY_PATH: libraries.join(':') }, stdio: 'ignore' },
  );
  await untilListening(secure);
  const admin = new Client({ url: `ldap://127.0.0.1:${port}` });
  await admin.bind(directoryAdmin.bind_dn, directoryAdmin.password);
  await admin.add(directoryBase, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' });
  for (const ou of ['people', 'groups', 'others'])
    await admin.add(`ou=${ou},${directoryBase}`, { objectClass: 'organizationalUnit', ou });
  return {
    ...{ host: `127.0.0.1:${port}`, secure_host: `localhost:${secure}`, ca_file: at('cert.pem'), admin },
    async stop() {
      await admin.unbind();
      program.kill();
      if (program.exitCode === null) await once(program, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
