/**
 * The fourth part of `npm run campaign`: strangers without a credential, who try to keep everybody else from being served. CAMPAIGN_STRANGERS_SECONDS says for how
 * long each of them does. It needs Linux, where every address of 127.0.0.0/8 is this machine.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownAddress } from '../support/address.ts';
import type { Client } from '../support/client.ts';
import { type GitClient, gitClient, remoteOf } from '../support/git.ts';
import { headOf } from '../support/raw_socket.ts';
import { newSshKey, withKey } from '../support/ssh.ts';
import { watchBystander } from './load_mix.ts';
import { started } from './load_server.ts';
import { Times } from './times.ts';

const seconds = Number(process.env.CAMPAIGN_STRANGERS_SECONDS ?? 20);
const bystanderInterval_ms = 100;
const longestAnswer_ms = 2000;
/** What a stranger waits before they connect again. */
const pause_ms = 100;
const content_bytes = 32 * 1024 * 1024;
const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];

interface Target {
  url: string;
  ssh_port: number;
  api: Client;
  /** A public project that takes errors. */
  id: number;
  full_path: string;
  /** Of the head of its default branch. */
  commit: string;
  /** The private key of an administrator. */
  key: string;
  git: GitClient;
}

interface Attack {
  /** How many there are at a time. */
  connections?: number;
  /** Where they come from, in turn. */
  from?: readonly string[];
  /** What each connection says. Nothing follows, and nothing of the answer is read. */
  says(target: Target): string;
  isSsh?: true;
}

const announced = { 'content-length': 1_000_000 };
const postTo = (path: string, headers: Record<string, string | number> = announced) => headOf('POST', path, headers);
const collector = ({ id }: Target) => `/api/v4/error_tracking/collector/api/${id}`;
const large = (line: string) => line.repeat(Math.ceil((80 * 1024) / line.length));

const attacks: Record<string, Attack> = {
  'the first byte of an envelope': { says: (at) => `${postTo(`${collector(at)}/envelope`)}{` },
  'the first byte of an event': { says: (at) => `${postTo(`${collector(at)}/store`)}{` },
  'the first byte of a fetch': { says: (at) => `${postTo(`/${at.full_path}.git/git-upload-pack`)}0` },
  'the first 80 KiB of a fetch': {
    says: (at) => postTo(`/${at.full_path}.git/git-upload-pack`) + large(`0032want ${at.commit}\n`),
  },
  'a clone that is not read': {
    // As many as run or wait: those that are refused would be a flood, which is another attack.
    connections: 400,
    says: (at) => {
      const body = `0032want ${at.commit}\n00000009done\n`;
      return postTo(`/${at.full_path}.git/git-upload-pack`, { 'content-length': body.length }) + body;
    },
  },
  'archives that are not read': {
    connections: 200,
    says: ({ id }) => headOf('GET', `/api/v4/projects/${id}/repository/archive.tar`, {}),
  },
  'pages that are not read, from one address': {
    connections: 40,
    from: addresses.slice(0, 1),
    says: ({ full_path }) => headOf('GET', `/${full_path}/-/raw/main/noise`, {}),
  },
  'the first byte of a push': { says: (at) => `${postTo(`/${at.full_path}.git/git-receive-pack`)}0` },
  'the first byte of a large file': {
    says: (at) => `${headOf('PUT', `/${at.full_path}.git/gitlab-lfs/objects/${'0'.repeat(64)}/1000000`, announced)}0`,
  },
  'the first byte of a chunk of source maps': {
    says: () =>
      `${postTo('/api/0/organizations/root/chunk-upload/', { ...announced, 'content-type': 'multipart/form-data; boundary=x' })}-`,
  },
  'nothing over SSH': { says: () => '', isSsh: true },
  'nothing over SSH, from one address': { from: addresses.slice(0, 1), says: () => '', isSsh: true },
  'only a version over SSH': {
    connections: 100,
    from: addresses.slice(0, 1),
    says: () => 'SSH-2.0-x\r\n',
    isSsh: true,
  },
};

/** Keeps so many connections open. Resolves when all are closed. */
async function keepOpen(
  target: Target,
  { connections = 1000, from = addresses, says, isSsh }: Attack,
  end_ms: number,
): Promise<void> {
  const text = says(target);
  const port = isSsh ? target.ssh_port : Number(new URL(target.url).port);
  const open = new Set<Socket>();
  const connectUntilEnd = async (localAddress: string) => {
    while (performance.now() < end_ms) {
      const socket = connect({ host: '127.0.0.1', port, localAddress });
      socket.pause().on('error', () => {}); // The server may end it at any time.
      socket.write(text);
      open.add(socket);
      await new Promise((resolve) => socket.once('close', resolve));
      open.delete(socket);
      await sleep(pause_ms);
    }
  };
  const all = Array.from({ length: connections }, (_, index) => connectUntilEnd(from[index % from.length]!));
  await sleep(end_ms - performance.now());
  for (const socket of open) socket.destroy();
  await Promise.all(all);
}

/** Somebody who lists the refs of the project, again and again. */
async function watchGit({ git }: Target, words: readonly string[], end_ms: number): Promise<Times> {
  const times = new Times();
  while (performance.now() < end_ms) {
    const asked = performance.now();
    const { code, stderr } = await git.run([...words]);
    if (code !== 0) console.log(stderr);
    times.add({ waited_ms: performance.now() - asked, ok: code === 0 });
  }
  return times;
}

async function targetFor(): Promise<Target> {
  const { COPPICE_PORT: port = '' } = await ownAddress();
  const { url, api } = await started({ COPPICE_SSH_PORT: port });
  const { body: project } = await api.post('/projects', { name: 'Public', visibility: 'public' });
  const git = await gitClient();
  // Pushed, so that it is a pack: what is unread is then more than the system keeps for a connection, and costs little to send.
  await git.run(['init', '-q', '-b', 'main']);
  await writeFile(path.join(git.folder, 'noise'), randomBytes(content_bytes));
  await git.run(['add', '.']);
  await git.run(['commit', '-q', '-m', 'Add noise']);
  const { code, stderr } = await git.run(['push', '-q', remoteOf(url, project.path_with_namespace, api.token), 'main']);
  assert.equal(code, 0, stderr);
  await api.put(`/projects/${project.id}/error_tracking/settings`, { active: true, integrated: true });
  const { body: branch } = await api.get(`/projects/${project.id}/repository/branches/main`);
  const { file: key, line } = await newSshKey();
  await api.post('/user/keys', { title: 'laptop', key: line });
  return {
    url,
    ssh_port: Number(port),
    api,
    id: project.id,
    full_path: project.path_with_namespace,
    commit: branch.commit.id,
    key,
    git,
  };
}

let target: Target;
before(async () => {
  target = await targetFor();
});

const rows: Record<string, object> = {};
after(() => console.table(rows));

for (const [name, attack] of Object.entries(attacks))
  test(`many connections with ${name} keep nobody else waiting`, async () => {
    const { url, id, full_path, ssh_port, key } = target;
    const end_ms = performance.now() + seconds * 1000;
    const [, bystander, visitor, overHttp, overSsh] = await Promise.all([
      keepOpen(target, attack, end_ms),
      watchBystander(url, seconds, { path: `/api/v4/projects/${id}`, interval_ms: bystanderInterval_ms }),
      watchBystander(url, seconds, { path: `/${full_path}/-/tree/main`, interval_ms: bystanderInterval_ms }),
      watchGit(target, ['ls-remote', '-q', remoteOf(url, full_path)], end_ms),
      watchGit(
        target,
        [...withKey(key), 'ls-remote', '-q', `ssh://git@127.0.0.1:${ssh_port}/${full_path}.git`],
        end_ms,
      ),
    ]);
    for (const [who, times] of Object.entries({
      bystander,
      visitor,
      'git over HTTP': overHttp,
      'git over SSH': overSsh,
    })) {
      rows[`${name}: ${who}`] = times.row;
      assert.equal(times.errors, 0, who);
    }
    const late = bystander.longerThan(longestAnswer_ms);
    assert.equal(late, 0, `${late} requests of the bystander took more than ${longestAnswer_ms} ms`);
  });
