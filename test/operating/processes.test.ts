import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { test } from 'node:test';
import ssh2 from 'ssh2';
import { fileUrl } from '../support/repository.ts';
import { newSshKey } from '../support/ssh.ts';
import { dataFolder, freePort, rootToken, type Server, serve } from './coppice.ts';

const enough = 100;

/** Sends a request and says how it went: its status, `refused`, or what broke. */
function outcome(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = get(url, { agent, headers: { 'private-token': rootToken } }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', (error) => resolve(`broken off: ${error.message}`));
    });
    request.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : `lost: ${error.message}`),
    );
  });
}

/** Asks without pause, over connections that stay and such that do not, until the server refuses; stops it in the middle of that. */
async function stopWhileAsking(server: Server): Promise<{ outcomes: Map<string, number>; code: number }> {
  const outcomes = new Map<string, number>();
  const isBusy = Promise.withResolvers<void>();
  const lane = async (keepAlive: boolean) => {
    const agent = new Agent({ keepAlive, maxSockets: 1 });
    for (let result = ''; result !== 'refused'; ) {
      result = await outcome(`${server.url}/api/v4/projects?per_page=5`, agent);
      outcomes.set(result, (outcomes.get(result) ?? 0) + 1);
      if ((outcomes.get('200') ?? 0) > enough) isBusy.resolve();
    }
    agent.destroy();
  };
  const asking = Promise.all([true, true, true, true, false, false].map(lane));
  await isBusy.promise;
  const code = await server.stop();
  await asking;
  return { outcomes, code };
}

test('metrics are served locally or with the token, and a stop under load loses no request', async () => {
  const token = 'a-token-for-prometheus';
  const server = await serve({ COPPICE_DATA: await dataFolder(), COPPICE_METRICS_TOKEN: token });
  const ask = async (headers: Record<string, string>) => (await fetch(`${server.url}/-/metrics`, { headers })).status;
  assert.equal(await ask({}), 200);
  assert.equal(await ask({ 'x-forwarded-for': '192.0.2.7', authorization: `Bearer ${token}` }), 200);
  assert.equal(await ask({ 'x-forwarded-for': '192.0.2.7' }), 404, 'through a proxy on the same machine');
  assert.equal(await ask({ authorization: 'Bearer another' }), 401);
  const asForge = await new Promise((resolve, reject) => {
    get(`${server.url}/-/metrics`, { headers: { host: 'forge.example' } }, (response) =>
      resolve(response.statusCode),
    ).once('error', reject);
  });
  assert.equal(asForge, 404, 'by the name that the world knows');
  const { outcomes, code } = await stopWhileAsking(server);
  assert.deepEqual([...outcomes.keys()].sort(), ['200', 'refused']);
  assert.equal(code, 0);
});

/** The processes that answer, which are the children that node runs. */
async function answering({ child }: Server): Promise<number[]> {
  const pids = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ').map(Number);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_pid, index) => lines[index]!.includes('http_process'));
}

const onLinux = { skip: process.platform === 'linux' ? false : 'it looks for processes in /proc' };

test('a killed process is replaced, metrics cover all processes, and a stop loses no request', onLinux, async () => {
  const token = 'a-token-for-prometheus';
  const data = await dataFolder();
  const server = await serve({ COPPICE_DATA: data, COPPICE_PROCESSES: '2', COPPICE_METRICS_TOKEN: token });
  const [first, second] = await answering(server);
  assert.ok(first && second);
  process.kill(first, 'SIGKILL');
  let now = await answering(server);
  while (now.length < 2 || now.includes(first)) now = await answering(server);
  const agent = new Agent();
  // The new process may still be starting; the other one answers meanwhile.
  for (let count = 0; count < 10; count++) assert.equal(await outcome(`${server.url}/api/v4/version`, agent), '200');

  const metrics = await fetch(`${server.url}/-/metrics`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(metrics.status, 200);
  const text = await metrics.text();
  const answered = /^http_request_duration_seconds_count\{.*route="\/api\/v4\/version",status="200"\} (\d+)$/m.exec(
    text,
  )?.[1];
  assert.equal(answered, '10');
  for (const state of ['running', 'waiting', 'scheduled', 'failed'])
    assert.match(text, new RegExp(`^coppice_jobs\\{state="${state}"\\} \\d+$`, 'm'));
  for (const name of [
    'coppice_database_connections{state="in_use"}',
    'coppice_ci_jobs{state="pending"}',
    'coppice_ci_oldest_pending_seconds',
    'coppice_ci_standing_pipelines',
    'coppice_git_processes{state="waiting"}',
    'process_resident_memory_bytes',
  ])
    assert.ok(text.includes(name), name);

  const { outcomes, code } = await stopWhileAsking(server);
  assert.deepEqual([...outcomes.keys()].sort(), ['200', 'refused']);
  assert.equal(code, 0);
});

test('writers of different files on one branch all succeed, whichever process answers them', async () => {
  const server = await serve({ COPPICE_DATA: await dataFolder(), COPPICE_PROCESSES: '2' });
  const { body: project } = await server.root.post('/projects', { name: 'shared', initialize_with_readme: true });
  const commit = (name: string) =>
    server.root.post(fileUrl(project, name), { branch: 'main', commit_message: `Add ${name}`, content: name });
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const refusals: unknown[] = [];
    for (let count = 0; count < 15; count++) {
      const { status, body } = await commit(`${writer}/${count}.txt`);
      if (status !== 201) refusals.push(body);
    }
    return refusals;
  });
  assert.deepEqual((await Promise.all(writers)).flat(), []);
  const again = await commit('0/0.txt');
  assert.deepEqual([again.status, again.body], [400, { message: 'A file with this name already exists' }]);
  assert.equal(await server.stop(), 0);
});

/** An open SSH connection, and what the server said in it. */
async function sshConnection(port: number, file: string): Promise<{ client: ssh2.Client; said: string }> {
  const client = new ssh2.Client();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  client.on('error', reject);
  client.on('ready', () =>
    client.shell(false, (_error, channel) => {
      let said = '';
      channel.on('data', (part: Buffer) => {
        said += part;
      });
      channel.on('close', () => resolve(said));
    }),
  );
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: await readFile(file) });
  return { client, said: await promise };
}

/** How many connections to a port a process holds. */
async function connectionsOf(pid: number, port: number): Promise<number> {
  const table = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const established = table.filter(([, address = '', , state]) => address.endsWith(local) && state === '01');
  const inodes = new Set(established.map((row) => `socket:[${row[9]}]`));
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return targets.filter((target) => inodes.has(target)).length;
}

test('every process serves SSH connections', onLinux, async () => {
  const port = await freePort();
  const server = await serve({
    COPPICE_DATA: await dataFolder(),
    COPPICE_PROCESSES: '2',
    COPPICE_SSH_PORT: String(port),
  });
  const { file, line } = await newSshKey();
  assert.equal((await server.root.post('/user/keys', { title: 'laptop', key: line })).status, 201);
  const open = [await sshConnection(port, file), await sshConnection(port, file)];
  for (const { said } of open) assert.equal(said, 'Welcome to Coppice, @root!\r\n');
  const held = await Promise.all((await answering(server)).map((pid) => connectionsOf(pid, port)));
  assert.deepEqual([held, await connectionsOf(server.child.pid!, port)], [[1, 1], 0]);
  const ended = Promise.all(open.map(({ client }) => once(client, 'close')));
  assert.equal(await server.stop(), 0);
  await ended;
});
