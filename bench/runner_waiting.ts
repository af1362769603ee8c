/** Runners that wait for jobs, among many jobs of many projects; files that jobs leave; and pushes that start pipelines. */
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { inTurn, measuredFrom, timeOf } from './measure.ts';
import { doorOf, type Held, pacedTimes, percentile } from './runner_door.ts';
import { git } from './seed.ts';
import { plainRow, type Row, timesRow } from './table.ts';

/** So many runners wait, for so long. */
const [waiting, waited_s] = [200, 20];
const settled_ms = 10_000;
const woken = 20;
const [projects, jobs_each] = [500, 20];
/** As 200 runners ask that come every three seconds. */
const [asked, asked_every_ms] = [400, 15];
const pushed = 15;
const person = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
/** Jobs that are handed out one after the other, each of another project. */
const taken = 100;
const artifact_bytes = 2 ** 30;

const configuration = (tag: string, count = 1) =>
  `job: {script: make, tags: [${tag}], parallel: ${Math.max(count, 2)}}`;

async function newProject({ api }: Instance, name: string, content: string): Promise<number> {
  const { status, body } = await api.post('/projects', { name, initialize_with_readme: true });
  if (status !== 201) throw new Error(JSON.stringify(body));
  await api.post(`/projects/${body.id}/repository/commits`, {
    ...{ branch: 'main', commit_message: 'Build [skip ci]' },
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content }],
  });
  return body.id;
}

async function start({ api }: Instance, project: number): Promise<void> {
  const { status, body } = await api.post(`/projects/${project}/pipeline`, { ref: 'main' });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** The processor time that a server uses while nothing is asked of it. */
async function used({ cpu_ms }: Instance): Promise<number> {
  const before_ms = await cpu_ms();
  await sleep(waited_s * 1000);
  return (await cpu_ms()) - before_ms;
}

/** Runners that hold a request each, which costs little, and of which one is answered as soon as there is a job. */
async function held(instance: Instance, door: ReturnType<typeof doorOf>): Promise<Row[]> {
  const project = await newProject(instance, 'woken', configuration('waiting'));
  const cursor = await door.cursor();
  let isOver = false;
  const woken_ms: number[] = [];
  let started = 0;
  const wait = async () => {
    while (!isOver) {
      const job = await door.request(cursor);
      if (!job) continue;
      // A job may be there before who started its pipeline hears of it.
      woken_ms.push(Math.max(0, performance.now() - started));
      await door.end(job);
    }
  };
  // What follows the first project is done by then.
  await sleep(settled_ms);
  const idle_ms = await used(instance);
  const all = Array.from({ length: waiting }, wait);
  await sleep(settled_ms);
  const share = (await used(instance)) - idle_ms;
  while (woken_ms.length < woken) {
    const count = woken_ms.length;
    started = Number.POSITIVE_INFINITY;
    await start(instance, project);
    started = performance.now();
    while (woken_ms.length < count + 2) await sleep(5);
    await sleep(200);
  }
  isOver = true;
  await instance.api.put('/application/settings', { ci_long_poll_seconds: 0 });
  await Promise.all(all);
  const text = `${((share / (waited_s * 1000)) * 100).toFixed(1)} % of a core`;
  return [
    plainRow(`${waiting} requests of runners are held`, text, '≤ 2 % of a core'),
    plainRow(
      'a held request, once there is a job: P99',
      `${percentile(woken_ms, 0.99).toFixed(0)} ms`,
      '≤ 300 ms',
      measuredFrom(woken_ms),
    ),
  ];
}

/** Runners that ask while many jobs wait: for other runners, or for them. */
async function crowded(
  instance: Instance,
  door: ReturnType<typeof doorOf>,
  other: ReturnType<typeof doorOf>,
): Promise<Row[]> {
  for (let index = 0; index < projects; index++)
    await start(instance, await newProject(instance, `crowd ${index}`, configuration('crowd', jobs_each)));
  const none_ms = await pacedTimes(asked, asked_every_ms, () => other.request());
  const taken_ms: number[] = [];
  for (let count = 0; count < taken; count++) taken_ms.push(await timeOf(() => door.request()));
  const among = `${projects * jobs_each} jobs wait in ${projects} projects`;
  return [
    plainRow(
      `jobs/request, 200 runners, ${among} for others: P99`,
      `${percentile(none_ms, 0.99).toFixed(1)} ms`,
      '≤ 50 ms',
      measuredFrom(none_ms),
    ),
    plainRow(
      `jobs/request, ${among}, each request gets one: P99`,
      `${percentile(taken_ms, 0.99).toFixed(1)} ms`,
      '≤ 50 ms',
      measuredFrom(taken_ms),
    ),
  ];
}

/** A multipart body with a file, which is made while it is sent. */
function largeBody(): { body: Readable; headers: Record<string, string> } {
  const chunk = Buffer.alloc(2 ** 20, 'x');
  async function* parts() {
    yield Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="trace.txt"\r\n\r\n');
    for (let sent = 0; sent < artifact_bytes; sent += chunk.length) yield chunk;
    yield Buffer.from('\r\n--b--\r\n');
  }
  return { body: Readable.from(parts()), headers: { 'content-type': 'multipart/form-data; boundary=b' } };
}

async function sendLarge(url: string, more: Record<string, string> = {}): Promise<void> {
  const { body, headers } = largeBody();
  const reply = await fetch(url, {
    ...{ method: 'POST', headers: { ...headers, ...more }, duplex: 'half' },
    body: Readable.toWeb(body) as ReadableStream,
  } as RequestInit);
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
}

/** The same bytes from the product as from a bare handler. */
async function artifact(instance: Instance, door: ReturnType<typeof doorOf>, folder: string): Promise<Row[]> {
  const { api, url } = instance;
  await api.put('/application/settings', { max_artifacts_size: 2_048 });
  const project = await newProject(instance, 'left', configuration('left', 3));
  await start(instance, project);
  const jobs: Held[] = [];
  while (jobs.length < 3) jobs.push((await door.request())!);
  const own = (turn: number) =>
    sendLarge(`${url}/api/v4/jobs/${jobs[turn]!.id}/artifacts?artifact_type=codequality&artifact_format=raw`, {
      'job-token': jobs[turn]!.token,
    });
  const before = await instance.memory_bytes();
  const [product, limit] = await withLimit('upload', [folder], (bare) =>
    inTurn(jobs.length, own, () => sendLarge(`${bare.url}/`)),
  );
  const grown = Math.round(((await instance.memory_bytes()) - before) / 2 ** 20);
  return [
    timesRow('artifact of 1 GiB', product!, limit!, '≤ 1.43×'),
    plainRow('memory after 3 GiB of artifacts', `${grown > 0 ? '+' : ''}${grown} MiB`, 'flat'),
  ];
}

/** Pushes of a commit to a project with a configuration, and to one without. */
async function pushes(instance: Instance, folder: string): Promise<Row> {
  const clone = async (name: string, content: string) => {
    const id = await newProject(instance, name, content);
    const { body } = await instance.api.get(`/projects/${id}`);
    const at = path.join(folder, name);
    const address = body.http_url_to_repo.replace('://', `://oauth2:${token}@`);
    await git('clone', '--quiet', address, at);
    return async (turn: number) => {
      await git('-C', at, ...person, 'commit', '--quiet', '--allow-empty', '-m', `Commit ${turn}`);
      return timeOf(() => git('-C', at, 'push', '--quiet', 'origin', 'main'));
    };
  };
  const [started, plain] = [await clone('started', configuration('waiting')), await clone('plain', '# nothing')];
  const taken: [number[], number[]] = [[], []];
  for (let turn = 0; turn < pushed; turn++) {
    taken[0].push(await started(turn));
    taken[1].push(await plain(turn));
  }
  return timesRow('push that starts a pipeline', measuredFrom(taken[0]), measuredFrom(taken[1]), '≤ 1.1×');
}

export async function measureWaitingRunners(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'waiting_runners'), {
    COPPICE_CONNECTIONS_PER_ADDRESS: '1000',
  });
  try {
    const { api } = instance;
    await api.put('/application/settings', { ci_long_poll_seconds: 50 });
    const { body: runner } = await api.post('/user/runners', {
      ...{ runner_type: 'instance_type', tag_list: ['waiting', 'crowd', 'left'] },
    });
    const { body: idle } = await api.post('/user/runners', { runner_type: 'instance_type', tag_list: ['none'] });
    const door = doorOf(instance, runner.token);
    return [
      ...(await held(instance, door)),
      ...(await artifact(instance, door, folder)),
      await pushes(instance, folder),
      ...(await crowded(instance, door, doorOf(instance, idle.token))),
    ];
  } finally {
    await instance.stop();
  }
}
