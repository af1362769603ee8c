/** Large transfers: uploads, and clones over SSH. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { inTurn } from './measure.ts';
import { git, type Seed, seed } from './seed.ts';
import { plainRow, type Row, timesRow } from './table.ts';

const sshPort = 22_822;
/** Without the settings and the known hosts of this machine. */
const ssh = 'ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR';
const upload_bytes = 100 * 2 ** 20;

async function uploads({ api, url, memory_bytes }: Instance, { project }: Seed, folder: string): Promise<Row[]> {
  await api.put('/application/settings', { max_attachment_size: 200 });
  const beside = path.join(folder, 'beside');
  await mkdir(beside);
  const content = new Blob([randomBytes(upload_bytes)]);
  const sendTo = (address: string) => async () => {
    const body = new FormData();
    body.append('file', content, 'large.bin');
    const reply = await fetch(address, { method: 'POST', body, headers: { 'private-token': token } });
    if (!reply.ok) throw new Error(`${address} answers ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
  };
  const own = sendTo(`${url}/api/v4/projects/${project}/uploads`);
  await own();
  const before_bytes = await memory_bytes();
  const [product, limit] = await withLimit('upload', [beside], (bare) => inTurn(7, own, sendTo(`${bare.url}/`)));
  const grown = Math.round(((await memory_bytes()) - before_bytes) / 2 ** 20);
  return [
    timesRow('upload of 100 MiB', product!, limit!, '≤ 1.67×'),
    plainRow('memory after 700 MiB of uploads', `${grown > 0 ? '+' : ''}${grown} MiB`, 'flat'),
  ];
}

async function clones({ api, url }: Instance, folder: string): Promise<Row[]> {
  // The client that people have: OpenSSH.
  const file = path.join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const { status, body } = await api.post('/user/keys', { title: 'bench', key: readFileSync(`${file}.pub`, 'utf8') });
  if (status !== 201) throw new Error(JSON.stringify(body));
  let number = 0;
  const cloneFrom = (address: string, settings: string[]) => async () => {
    const target = path.join(folder, `clone-${++number}`);
    await git(...settings, 'clone', '--quiet', '--bare', '--single-branch', address, target);
    await rm(target, { recursive: true });
  };
  const overSsh = cloneFrom(`ssh://git@127.0.0.1:${sshPort}/root/bench.git`, [
    '-c',
    `core.sshCommand=${ssh} -i '${file}'`,
  ]);
  const overHttp = cloneFrom(`${url.replace('://', `://root:${token}@`)}/root/bench.git`, []);
  const [one, other] = await inTurn(7, overSsh, overHttp);
  const atOnce = (clone: () => Promise<void>) => () => Promise.all(Array.from({ length: 20 }, clone));
  const [manySsh, manyHttp] = await inTurn(3, atOnce(overSsh), atOnce(overHttp));
  return [
    timesRow('clone over SSH, beside HTTP', one!, other!, '≤ 1.3×'),
    timesRow('20 clones at once over SSH, beside HTTP', manySsh!, manyHttp!, '≤ 1.3×'),
  ];
}

/** @param folder for the data of an instance and for clones */
export async function measureTransfers(folder: string): Promise<Row[]> {
  const at = path.join(folder, 'transfers');
  await mkdir(at);
  const instance = await startInstance(path.join(at, 'data'), { COPPICE_SSH_PORT: String(sshPort) });
  try {
    const seeded = await seed(instance, at);
    return [...(await uploads(instance, seeded, at)), ...(await clones(instance, at))];
  } finally {
    await instance.stop();
  }
}
