/** Repositories: reading files and commits, writing, and what git clients do. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { commitOf, fastImport, fourKilobytes, git, type Seed, seed } from './seed.ts';
import { ms, plainRow, type Row, ratesRow, timesRow } from './table.ts';

const headers = { 'private-token': token };
const asGit = { authorization: `Basic ${Buffer.from(`root:${token}`).toString('base64')}` };

const repositoryOf = ({ project }: Seed) => `/api/v4/projects/${project}/repository`;

interface Reading {
  operation: string;
  /** For each of the objects. */
  address(object: string): string;
  form: 'json' | 'raw';
  target: string;
}

async function read(
  instance: Instance,
  { repository }: Seed,
  objects: readonly string[],
  reading: Reading,
): Promise<Row> {
  const product = await load(instance, objects.map(reading.address), { headers });
  const limit = await withLimit('file', [repository], (bare) =>
    load(
      bare,
      objects.map((object) => `/${reading.form}?object=${encodeURIComponent(object)}`),
    ),
  );
  return ratesRow(reading.operation, product, limit, reading.target);
}

const fileIn = (seed: Seed, object: string) =>
  `${repositoryOf(seed)}/files/${encodeURIComponent(object.replace('main:', ''))}`;

async function readFiles(instance: Instance, seed: Seed, operation: string): Promise<Row> {
  const objects = fourKilobytes.map((file) => `main:${file}`);
  const address = (object: string) => `${fileIn(seed, object)}?ref=main`;
  return read(instance, seed, objects, { operation, address, form: 'json', target: '≥ 35 %' });
}

async function readRawFiles(instance: Instance, seed: Seed): Promise<Row> {
  const objects = fourKilobytes.map((file) => `main:${file}`);
  const address = (object: string) => `${fileIn(seed, object)}/raw?ref=main`;
  return read(instance, seed, objects, { operation: 'GET a raw file (4 KB)', address, form: 'raw', target: '≥ 35 %' });
}

async function readCommits(instance: Instance, seed: Seed): Promise<Row> {
  const { stdout } = await git('-C', seed.repository, 'rev-list', '-n', '200', 'main');
  const address = (id: string) => `${repositoryOf(seed)}/commits/${id}`;
  return read(instance, seed, stdout.trim().split('\n'), {
    operation: 'GET a commit',
    address,
    form: 'json',
    target: '≥ 25 %',
  });
}

/** Beside a handler that starts git once for each request. */
async function list(instance: Instance, seed: Seed, name: 'commits' | 'branches', command: string[]): Promise<Row> {
  const product = await load(instance, [`${repositoryOf(seed)}/${name}`], { headers });
  const limit = await withLimit('git', ['-C', seed.repository, ...command], (bare) => load(bare, ['/']));
  return ratesRow(`GET ${name}`, product, limit, '≥ 110 %');
}

async function listFreezePeriods(instance: Instance, { project }: Seed): Promise<Row> {
  const product = await load(instance, [`/api/v4/projects/${project}/freeze_periods`], { headers });
  const { startEmbedded } = await import('../src/db/embedded.ts');
  const database = await startEmbedded(instance.data, { use: 'shared' });
  const statement = `select id, freeze_start, freeze_end, cron_timezone, created_at, updated_at from freeze_periods where project_id = ${project} order by created_at, id limit 21`;
  const limit = await withLimit('statement', [database.connectionString, statement], (bare) => load(bare, ['/all']));
  await database.stop();
  return ratesRow('GET a list of 20 freeze periods', product, limit, '≥ 45 %');
}

async function blame({ api }: Instance, { project, repository }: Seed): Promise<Row[]> {
  const { stdout } = await git('-C', repository, 'rev-list', '-n', '12', 'main~10', '--', 'blamed.txt');
  const commits = stdout.trim().split('\n');
  const ask = (turn: number) =>
    api.get(`/projects/${project}/repository/files/blamed.txt/blame`, { ref: commits[turn]! });
  const [first, limit] = await inTurn(commits.length, ask, (turn) =>
    git('-C', repository, 'blame', '--porcelain', commits[turn]!, '--', 'blamed.txt'),
  );
  const [again] = await inTurn(100, () => ask(0));
  return [
    timesRow('GET blame, first time', first!, limit!, '≤ 1.3×'),
    plainRow('GET blame, repeated', ms(again!.p50_ms), 'P90 ≤ 10 ms', again),
  ];
}

async function createFile({ api }: Instance, { project }: Seed, folder: string): Promise<Row> {
  const beside = path.join(folder, 'beside.git');
  await git('clone', '--quiet', '--bare', path.join(folder, 'source.git'), beside);
  await git('-C', beside, 'config', 'core.fsync', 'committed,reference');
  const content = 'y'.repeat(1000);
  const [product, limit] = await inTurn(
    50,
    (turn) =>
      api.post(`/projects/${project}/repository/files/new%2Ffile${turn}.txt`, {
        branch: 'main',
        commit_message: 'Add',
        content,
      }),
    (turn) =>
      fastImport(beside, [
        commitOf(turn, 'main', `new/file${turn}.txt`, content).replace(
          /(data \d+\nChange \d+\n)/,
          '$1from refs/heads/main^0\n',
        ),
      ]),
  );
  return timesRow('create a file', product!, limit!, '≤ 1.3×');
}

/** How many a second, and what they cost all processes together, jobs included. */
async function createFilesAtOnce(instance: Instance, { project }: Seed, folder: string): Promise<Row> {
  const actions = [{ action: 'create', file_path: 'at-once/[<id>].txt', content: 'y'.repeat(1000) }];
  const body = JSON.stringify({ branch: 'main', commit_message: 'Add', actions });
  const asJson = { 'content-type': 'application/json' };
  const create = { method: 'POST', body, connections: 4 } as const;
  const product = await load(instance, [`/api/v4/projects/${project}/repository/commits`], {
    ...create,
    headers: { ...headers, ...asJson },
  });
  const limit = await withLimit('commit', [path.join(folder, 'beside.git')], (bare) =>
    load(bare, ['/'], { ...create, headers: asJson }),
  );
  return ratesRow('create files, 4 at a time', product, limit, '≥ 100 %, CPU ≤ 1.3×');
}

/** Beside a file: a snippet is a commit of its two files, a repository and a row. */
async function createSnippet({ api }: Instance, { project }: Seed): Promise<Row> {
  const content = 'y'.repeat(1000);
  const files = ['one.txt', 'two.txt'].map((file_path) => ({ file_path, content }));
  const [product, limit] = await inTurn(
    50,
    (turn) => api.post(`/projects/${project}/snippets`, { title: `Snippet ${turn}`, files }),
    (turn) =>
      api.post(`/projects/${project}/repository/files/beside%2Ffile${turn}.txt`, {
        branch: 'main',
        commit_message: 'Add',
        content,
      }),
  );
  return timesRow('create a snippet of two files, beside a file', product!, limit!, '≤ 2×');
}

async function clone({ url }: Instance, { repository }: Seed, folder: string): Promise<Row> {
  const cloneFrom = (address: string) => async (turn: number) => {
    const target = path.join(folder, `clone-${new URL(address).port}-${turn}`);
    await git('clone', '--quiet', '--bare', '--single-branch', address, target);
    await rm(target, { recursive: true });
  };
  const own = `${url.replace('://', `://root:${token}@`)}/root/bench.git`;
  const [product, limit] = await withLimit('git_http', [repository], (bare) =>
    inTurn(7, cloneFrom(own), cloneFrom(bare.url)),
  );
  return timesRow('clone of 5,000 commits', product!, limit!, '≤ 1.1×');
}

/** What a client asks first, with the list of 1,000 refs (protocol 0) or without (protocol 2). */
async function advertise(instance: Instance, { repository }: Seed, protocol: 0 | 2): Promise<Row> {
  const asking = { 'git-protocol': `version=${protocol}` };
  const address = '/info/refs?service=git-upload-pack';
  const product = await load(instance, [`/root/bench.git${address}`], { headers: { ...asGit, ...asking } });
  const limit = await withLimit('git_http', [repository], (bare) => load(bare, [address], { headers: asking }));
  return ratesRow(`info/refs, protocol ${protocol}`, product, limit, '≥ 90 %');
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

/** @param folder for the data of an instance and for clones */
export async function measureRepositories(folder: string): Promise<Row[]> {
  const data = path.join(folder, 'data');
  const rows: Row[] = [];
  let instance = await startInstance(data);
  try {
    const seeded = await seed(instance, folder);
    // The next server would begin with reading what was pushed, and would not be idle.
    await sleep(5_000);
    await instance.stop();
    instance = await startInstance(data);
    // What the start has used is given back by then, and connections to the database that nothing needs are closed.
    await sleep(15_000);
    rows.push(plainRow('start to readiness, warm', ms(instance.ready_ms), '≤ 2000 ms'));
    rows.push(plainRow('idle memory of all processes (PSS)', megabytes(await instance.memory_bytes()), '≤ 150 MB'));
    await instance.longestBlock_ms();
    const add = async (...measured: Row[]) => {
      const block = ms(await instance.longestBlock_ms());
      rows.push(...measured.map((row) => ({ ...row, block: row.block || block })));
    };
    await add(await readFiles(instance, seeded, 'GET a file (4 KB)'));
    await add(await readRawFiles(instance, seeded));
    await add(await readCommits(instance, seeded));
    await add(await list(instance, seeded, 'commits', ['log', '-n', '21', '--format=raw', 'main']));
    await add(
      await list(instance, seeded, 'branches', [
        'for-each-ref',
        '--count=21',
        '--format=%(refname) %(objectname)',
        'refs/heads',
      ]),
    );
    await add(await listFreezePeriods(instance, seeded));
    await add(...(await blame(instance, seeded)));
    await add(await createFile(instance, seeded, folder));
    await add(await createFilesAtOnce(instance, seeded, folder));
    await add(await createSnippet(instance, seeded));
    await add(await clone(instance, seeded, folder));
    await add(await advertise(instance, seeded, 0));
    await add(await advertise(instance, seeded, 2));
    rows.push(plainRow('memory after the load (PSS)', megabytes(await instance.memory_bytes()), ''));
    await add(await readFiles(instance, seeded, 'GET a file (4 KB), after the load'));
    const longest = Math.max(...rows.map(({ block }) => Number.parseFloat(block) || 0));
    rows.push(plainRow('longest block of the event loop', ms(longest), '≤ 20 ms'));
    // Memory is given back after half a minute.
    await sleep(50_000);
    rows.push(plainRow('memory at rest after the load (PSS)', megabytes(await instance.memory_bytes()), ''));
  } finally {
    await instance.stop();
  }
  return rows;
}
