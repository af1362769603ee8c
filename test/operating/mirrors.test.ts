/** Two servers that mirror to each other, and a server that is killed while a mirror runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { atFileEnd } from '../support/file_end.ts';
import { type LfsObject, objectFor, pointerFor } from '../support/lfs.ts';
import { eventually } from '../support/two_sites.ts';
import { dataFolder, freePort, rootToken, type Server, serve } from './coppice.ts';

interface Place {
  server: Server;
  environment: Record<string, string>;
  /** What the server has logged. */
  log: string[];
}

/** A server under its own address, which may speak to this machine. */
async function start(): Promise<Place> {
  const [data, port] = [await dataFolder(), await freePort()];
  const environment = {
    COPPICE_DATA: data,
    COPPICE_PORT: String(port),
    COPPICE_URL: `http://127.0.0.1:${port}`,
    COPPICE_LOG_LEVEL: 'debug',
  };
  const place: Place = { server: await serve(environment), environment, log: [] };
  listen(place);
  await place.server.root.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
  return place;
}

function listen({ server: { child }, log }: Place): void {
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (part: Buffer) => log.push(part.toString()));
}

const withLogin = (url: string, path: string) => `${url.replace('//', `//root:${rootToken}@`)}/${path}.git`;

interface Repository {
  id: number;
  path: string;
}

async function addProject({ root }: Server, name: string): Promise<Repository> {
  const made = await root.post('/projects', { name });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { id: made.body.id, path: made.body.path_with_namespace };
}

async function commit({ root }: Server, { id }: Repository, file: string): Promise<string> {
  const change = {
    branch: 'main',
    commit_message: `Add ${file}`,
    actions: [{ action: 'create', file_path: file, content: file }],
  };
  const made = await root.post(`/projects/${id}/repository/commits`, change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

async function headOf({ root }: Server, { id }: Repository): Promise<string | undefined> {
  return (await root.get(`/projects/${id}/repository/branches/main`)).body.commit?.id;
}

async function addMirror({ root }: Server, { id }: Repository, url: string): Promise<string> {
  const made = await root.post(`/projects/${id}/remote_mirrors`, { url, enabled: true });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return `/projects/${id}/remote_mirrors/${made.body.id}`;
}

const basic = { authorization: `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}` };

/** What the server says of a large file: the addresses at which it is stored or fetched. */
async function askForFile({ url }: Server, { path }: Repository, operation: string, object: LfsObject) {
  const answer = await fetch(`${url}/${path}.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { ...basic, 'content-type': 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ operation, objects: [object] }),
  });
  const { objects } = (await answer.json()) as { objects: { actions?: Record<string, { href: string }> }[] };
  return objects[0]?.actions;
}

/** Stores a large file and commits its pointer. */
async function commitLarge(server: Server, project: Repository, content: string): Promise<LfsObject> {
  const object = objectFor(content);
  const { href } = (await askForFile(server, project, 'upload', object))!.upload!;
  assert.equal((await fetch(href, { method: 'PUT', headers: basic, body: content })).status, 200);
  const files = { 'pears.bin': pointerFor(object), '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' };
  const actions = Object.entries(files).map(([file_path, text]) => ({ action: 'create', file_path, content: text }));
  const change = { branch: 'main', commit_message: 'Add a large file', actions };
  const made = await server.root.post(`/projects/${project.id}/repository/commits`, change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return object;
}

const hasLarge = async (server: Server, project: Repository, object: LfsObject): Promise<boolean> =>
  (await askForFile(server, project, 'download', object))?.download !== undefined;

test('two servers that mirror to each other get what changes on either, and come to rest', async () => {
  const [one, other] = [(await start()).server, (await start()).server];
  const [here, there] = [await addProject(one, 'Apples'), await addProject(other, 'Pears')];
  const first = await commit(one, here, 'one.txt');
  const forth = await addMirror(one, here, withLogin(other.url, there.path));
  await eventually('the first copy', async () => (await headOf(other, there)) === first);
  const back = await addMirror(other, there, withLogin(one.url, here.path));
  const second = await commit(other, there, 'two.txt');
  await other.root.post(`${back}/sync`);
  await eventually('the way back', async () => (await headOf(one, here)) === second);

  // The change that came back is looked at once more, and there is nothing to send.
  await one.root.post(`${forth}/sync`);
  const resting = async (server: Server, mirror: string) => {
    const { body } = await server.root.get(mirror);
    return body.update_status === 'finished' && body.last_error === null && body;
  };
  await eventually('the last run of the other', () => resting(other, back));
  const done = await eventually('the last run', () => resting(one, forth));
  assert.equal((await resting(one, forth)).last_update_at, done.last_update_at);

  // Large files go along both ways.
  const large = await commitLarge(one, here, 'x'.repeat(100_000));
  await one.root.post(`${forth}/sync`);
  await eventually('a large file', () => hasLarge(other, there, large));
  // The file goes before the branch. A pull between the two would find the old branch.
  const head = await headOf(one, here);
  await eventually('its pointer', async () => (await headOf(other, there)) === head);

  // A third project follows the second one.
  const follower = await one.root.post('/projects', {
    ...{ name: 'Follower', import_url: withLogin(other.url, there.path), mirror: true },
  });
  assert.equal(follower.status, 201, JSON.stringify(follower.body));
  const { id, path_with_namespace: path } = follower.body;
  await eventually('the pull', async () => (await headOf(one, { id, path })) === head);
  assert.ok(await hasLarge(one, { id, path }, large));
});

/** A way to a server that can be held: then what comes is taken and nothing answers. */
async function gateTo(url: string) {
  const { hostname, port } = new URL(url);
  const gate = { isHeld: true, waiting: 0, url: '' };
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (gate.isHeld) {
      gate.waiting++;
      return;
    }
    const target = connect(Number(port), hostname).on('error', () => socket.destroy());
    sockets.add(target);
    socket.pipe(target).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  gate.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  atFileEnd(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return gate;
}

/** What every user of the machine, and this one, can see of the processes of git. */
async function shownOfGit(): Promise<{ args: string[]; environments: string[] }> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (id: string, name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '');
  const args = await Promise.all(ids.map((id) => read(id, 'cmdline')));
  const isOfGit = args.map((line) => /^\S*git/.test(line) && line.includes('ls-remote'));
  const environments = await Promise.all(ids.filter((_, index) => isOfGit[index]).map((id) => read(id, 'environ')));
  return { args, environments };
}

test('a run that kill -9 has ended is taken up again; nothing that others can see has the password', async () => {
  const place = await start();
  const target = (await start()).server;
  const gate = await gateTo(target.url);
  const [here, there] = [await addProject(place.server, 'Apples'), await addProject(target, 'Pears')];
  const head = await commit(place.server, here, 'one.txt');
  const mirror = await addMirror(place.server, here, withLogin(gate.url, there.path));
  await eventually('a run that hangs', async () => gate.waiting > 0);
  assert.equal((await place.server.root.get(mirror)).body.update_status, 'started');
  const { args, environments } = await shownOfGit();
  assert.ok(environments.length > 0);
  assert.ok(args.some((line) => line.includes('ls-remote') && line.includes(gate.url)));
  assert.ok(![...args, ...environments].some((text) => text.includes(rootToken)));
  const exit = once(place.server.child, 'exit');
  place.server.child.kill('SIGKILL');
  await exit;
  gate.isHeld = false;
  place.server = await serve(place.environment);
  listen(place);
  await eventually('the run after the crash', async () => (await headOf(target, there)) === head);
  await eventually('its end', async () => (await place.server.root.get(mirror)).body.update_status === 'finished');
  assert.ok(!place.log.join('').includes(rootToken));
});
