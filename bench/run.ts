/**
 * `npm run bench`: measures the product beside the limit for the same work, in one run, and prints a table. Ratios count, not figures: both sides meet the same
 * machine. BENCH_SECONDS sets how long each address is loaded.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, startInstance, token, withLimit, workFolder } from './instance.ts';
import { measureIssues } from './issues.ts';
import { inTurn, load } from './measure.ts';
import { commitOf, fastImport, git, type Seed, seed } from './seed.ts';
import { ms, plainRow, print, type Row, ratesRow, timesRow } from './table.ts';

/** `npm run bench -- issues` measures that part alone. */
const asked = (part: string) => process.argv.length < 3 || process.argv.includes(part);

const rows: Row[] = [];
const headers = { 'private-token': token };

async function readFile({ url }: Instance, { project, repository }: Seed): Promise<void> {
  const product = await load(`${url}/api/v4/projects/${project}/repository/files/four_kilobytes.txt?ref=main`, headers);
  const limit = await withLimit('file', [repository, 'main:four_kilobytes.txt'], load);
  rows.push(ratesRow('GET a file (4 KB, warm)', product, limit, '≥ 35 %'));
}

async function listFreezePeriods({ url, data }: Instance, { project }: Seed): Promise<void> {
  const product = await load(`${url}/api/v4/projects/${project}/freeze_periods`, headers);
  const { startEmbedded } = await import('../src/db/embedded.ts');
  const database = await startEmbedded(data, { use: 'shared' });
  const statement = `select id, freeze_start, freeze_end, cron_timezone, created_at, updated_at from freeze_periods where project_id = ${project} order by created_at, id limit 21`;
  const limit = await withLimit('statement', [database.connectionString, statement], load);
  await database.stop();
  rows.push(ratesRow('GET a list of 20 freeze periods', product, limit, '≥ 45 %'));
}

async function blame({ api }: Instance, { project, repository }: Seed): Promise<void> {
  const { stdout } = await git('-C', repository, 'rev-list', '-n', '12', 'main~10', '--', 'blamed.txt');
  const commits = stdout.trim().split('\n');
  const ask = (turn: number) => api.get(`/projects/${project}/repository/files/blamed.txt/blame`, { ref: commits[turn]! });
  const [first, limit] = await inTurn(commits.length, ask, (turn) =>
    git('-C', repository, 'blame', '--porcelain', commits[turn]!, '--', 'blamed.txt'),
  );
  rows.push(timesRow('GET blame, first time', first!, limit!, '≤ 1.3×'));
  const [again] = await inTurn(100, () => ask(0));
  rows.push(plainRow('GET blame, repeated', ms(again!.p50_ms), 'P90 ≤ 10 ms', again));
}

async function createFile({ api }: Instance, { project }: Seed, folder: string): Promise<void> {
  const beside = path.join(folder, 'beside.git');
  await git('clone', '--quiet', '--bare', path.join(folder, 'source.git'), beside);
  await git('-C', beside, 'config', 'core.fsync', 'committed,reference');
  const content = 'y'.repeat(1000);
  const [product, limit] = await inTurn(
    50,
    (turn) =>
      api.post(`/projects/${project}/repository/files/new%2Ffile${turn}.txt`, { branch: 'main', commit_message: 'Add', content }),
    (turn) =>
      fastImport(beside, [
        commitOf(turn, 'main', `new/file${turn}.txt`, content).replace(/(data \d+\nChange \d+\n)/, '$1from refs/heads/main^0\n'),
      ]),
  );
  rows.push(timesRow('create a file', product!, limit!, '≤ 3×'));
}

async function clone({ url }: Instance, { repository }: Seed, folder: string): Promise<void> {
  const cloneFrom = (address: string) => async (turn: number) => {
    const target = path.join(folder, `clone-${new URL(address).port}-${turn}`);
    await git('clone', '--quiet', '--bare', '--single-branch', address, target);
    await rm(target, { recursive: true });
  };
  const own = `${url.replace('://', `://root:${token}@`)}/root/bench.git`;
  const [product, limit] = await withLimit('git_http', [repository], (bare) => inTurn(7, cloneFrom(own), cloneFrom(bare)));
  rows.push(timesRow('clone of 5,000 commits', product!, limit!, '≤ 1.1×'));
}

async function advertise({ url }: Instance, { repository }: Seed): Promise<void> {
  const authorization = `Basic ${Buffer.from(`root:${token}`).toString('base64')}`;
  const ask = async () =>
    (await fetch(`${url}/root/bench.git/info/refs?service=git-upload-pack`, { headers: { authorization } })).arrayBuffer();
  const [product, limit] = await inTurn(40, ask, () => git('upload-pack', '--advertise-refs', '--stateless-rpc', repository));
  rows.push(timesRow('info/refs with 1,000 refs', product!, limit!, '≤ 1.3×'));
}

async function measureRepositories(folder: string): Promise<void> {
  const data = path.join(folder, 'data');
  let instance = await startInstance(data);
  try {
    const place = await seed(instance, folder);
    await instance.stop();
    instance = await startInstance(data);
    // What the start has used is given back a moment later.
    await sleep(3000);
    const idle_bytes = await instance.memory_bytes();
    rows.push(plainRow('start to readiness, warm', ms(instance.ready_ms), '≤ 2000 ms'));
    rows.push(plainRow('idle memory', `${Math.round(idle_bytes / 1e6)} MB`, '≤ 150 MB'));
    await readFile(instance, place);
    await listFreezePeriods(instance, place);
    await blame(instance, place);
    await createFile(instance, place, folder);
    await clone(instance, place, folder);
    await advertise(instance, place);
    rows.push(plainRow('memory after the load', `${Math.round((await instance.memory_bytes()) / 1e6)} MB`, ''));
  } finally {
    await instance.stop();
  }
}

const { folder, remove } = await workFolder();
try {
  if (asked('repositories')) await measureRepositories(folder);
  if (asked('issues')) rows.push(...(await measureIssues(folder)));
  print(rows);
} finally {
  await remove();
}
