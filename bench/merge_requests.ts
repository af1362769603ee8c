/** Merge requests: lists, merging into a large tree, reading a diff of many files, and pushing to a branch with many of them. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn } from './measure.ts';
import { measureMergeRequestLists } from './merge_request_lists.ts';
import { fastImport, git } from './seed.ts';
import { ms, plainRow, type Row, timesRow } from './table.ts';

/** BENCH_FILES makes the tree smaller, to see whether it runs. */
const files = Number(process.env.BENCH_FILES ?? 100_000);
const merges = 10;
const changed_files = 200;
const diffed_files = 100;
const waiting = 50;
const pushes = 10;

const person = 'Ada <ada@example.com> 1700000000 +0000';
const startOf = (branch: string, message: string, from?: string) =>
  `commit refs/heads/${branch}\ncommitter ${person}\ndata ${message.length}\n${message}\n${from === undefined ? '' : `from ${from}\n`}`;
const inline = (file: string, content: string) => `M 100644 inline ${file}\ndata ${content.length}\n${content}\n`;

/** A tree of folders of 100 files, and branches that change some of them. */
function* history(): Generator<string> {
  yield startOf('main', 'Begin');
  for (let file = 0; file < files; file++)
    yield inline(`src/${Math.floor(file / 100)}/${file}.txt`, `content ${file}\n`);
  for (let turn = 0; turn < merges; turn++) {
    yield startOf(`change-${turn}`, 'Change', 'refs/heads/main');
    for (let at = 0; at < changed_files; at++) {
      const file = (turn * changed_files + at) % files;
      yield inline(`src/${Math.floor(file / 100)}/${file}.txt`, `changed ${turn}\n`);
    }
  }
  for (let turn = 0; turn < waiting; turn++) yield `reset refs/heads/target-${turn}\nfrom refs/heads/main\n\n`;
}

interface Place {
  instance: Instance;
  url: string;
  remote: string;
  /** The repository that was pushed. */
  source: string;
}

async function place(instance: Instance, folder: string): Promise<Place> {
  const source = path.join(folder, 'merges.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history());
  const { body } = await instance.api.post('/projects', { name: 'merges' });
  const remote = `${instance.url.replace('://', `://root:${token}@`)}/root/merges.git`;
  await git('-C', source, 'push', '--quiet', '--mirror', remote);
  return { instance, url: `/projects/${body.id}`, remote, source };
}

/** @returns its number */
async function propose({ instance, url }: Place, source_branch: string, target_branch = 'main'): Promise<number> {
  const { status, body } = await instance.api.post(`${url}/merge_requests`, {
    title: source_branch,
    source_branch,
    target_branch,
  });
  if (status !== 201) throw new Error(`the merge request was refused: ${JSON.stringify(body)}`);
  return body.iid;
}

async function succeed(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** One merge request for each of the branches; answers when the jobs that follow their creation are done. */
async function proposeAll(here: Place): Promise<number[]> {
  const numbers: number[] = [];
  for (let turn = 0; turn < merges; turn++) numbers.push(await propose(here, `change-${turn}`));
  await untilChecked(here, numbers);
  return numbers;
}

/** Waits until merge requests are prepared and found mergeable, and a little more for other jobs. */
async function untilChecked({ instance, url }: Place, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const isChecked = async () => {
      const { body } = await instance.api.get(`${url}/merge_requests/${number}`);
      return body.detailed_merge_status === 'mergeable' && body.prepared_at !== null;
    };
    while (!(await isChecked())) await sleep(200);
  }
  await sleep(1000);
}

/** Beside git, which makes the same commit in the repository that was pushed. Each merge waits until the jobs of the one before are done. */
async function merge(here: Place, numbers: readonly number[]): Promise<Row> {
  const { instance, url, source } = here;
  const beside = async (turn: number) => {
    const tree = (await git('-C', source, 'merge-tree', '--write-tree', 'main', `change-${turn}`)).stdout.trim();
    const parents = ['-p', 'main', '-p', `change-${turn}`];
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const { stdout } = await git('-C', source, ...identity, 'commit-tree', tree, ...parents, '-m', 'Merge');
    await git('-C', source, 'update-ref', 'refs/heads/main', stdout.trim());
  };
  const [product, limit] = await inTurn(
    merges,
    (turn) => succeed(instance.api.put(`${url}/merge_requests/${numbers[turn]}/merge`)),
    beside,
    (turn) => untilChecked(here, numbers.slice(turn + 1)),
  );
  return timesRow(`merge ${changed_files} files into ${files}, beside git`, product!, limit!, '≤ 2×');
}

async function readDiffs({ instance, url, source }: Place, numbers: readonly number[]): Promise<Row[]> {
  const ask = (turn: number) =>
    succeed(instance.api.get(`${url}/merge_requests/${numbers[turn]}/diffs`, { per_page: diffed_files }));
  const [again] = await inTurn(100, () => ask(0));
  const [first, limit] = await inTurn(
    merges - 1,
    (turn) => ask(turn + 1),
    (turn) => git('-C', source, 'diff', `main...change-${turn + 1}`),
  );
  return [
    timesRow(`GET diffs of ${diffed_files} files, first time, beside git`, first!, limit!, '≤ 1.3×'),
    plainRow(`GET diffs of ${diffed_files} files, repeated`, ms(again!.p50_ms), '≤ 10 ms', again),
  ];
}

/** What a push waits for: the jobs that follow it are not measured. */
async function push(here: Place): Promise<Row> {
  const { source, remote } = here;
  for (const branch of ['waited', 'alone'])
    await git('-C', source, 'push', '--quiet', remote, `change-0:refs/heads/${branch}`);
  for (let turn = 0; turn < waiting; turn++) await propose(here, 'waited', `target-${turn}`);
  function* more(branch: string, turn: number) {
    yield startOf(branch, `More ${turn}`, turn === 0 ? 'refs/heads/change-0^0' : `refs/heads/${branch}^0`) +
      inline('more.txt', `${branch} ${turn}\n`);
  }
  for (const branch of ['waited', 'alone'])
    for (let turn = 0; turn < pushes; turn++) {
      await fastImport(source, more(branch, turn));
      await git('-C', source, 'update-ref', `refs/steps/${branch}-${turn}`, `refs/heads/${branch}`);
    }
  const pushTo = (branch: string) => (turn: number) =>
    git('-C', source, 'push', '--quiet', remote, `refs/steps/${branch}-${turn}:refs/heads/${branch}`);
  const [product, limit] = await inTurn(pushes, pushTo('waited'), pushTo('alone'));
  return timesRow(`push to a branch of ${waiting} merge requests, beside one of none`, product!, limit!, '≤ 1.2×');
}

export async function measureMergeRequests(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  const instance = await startInstance(path.join(folder, 'merge-requests'));
  try {
    const here = await place(instance, folder);
    const numbers = await proposeAll(here);
    rows.push(...(await readDiffs(here, numbers)), await merge(here, numbers), await push(here));
  } finally {
    await instance.stop();
  }
  return [...rows, ...(await measureMergeRequestLists(folder))];
}
