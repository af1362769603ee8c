/** Moves of repositories between storages: one of 500 MB, the scheduling of 10,000, and what other requests notice. */
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { seeded, sendSteadily } from '../test/campaign/load_mix.ts';
import { fill } from './fill.ts';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn, measuredFrom, p95_ms, timeOf } from './measure.ts';
import { commitOf, fastImport, git } from './seed.ts';
import { ms, plainRow, type Row, timesRow } from './table.ts';

/** A large repository never returns to one that it has left, for which it would have to wait. */
const storages = ['default', 'second', 'third', 'fourth', 'fifth'] as const;
type Storage = (typeof storages)[number];

const seconds = Number(process.env.BENCH_SECONDS ?? 8);
const rate = 100;
const many = 10_000;
/** Scheduled one after the other, they keep the server moving while others are answered. */
const small = 100;

const random_bytes = 750_000;
/** As Base64, random bytes take a third more, which git compresses away. */
function* history(): Generator<string> {
  for (let number = 0; number * random_bytes < 500e6; number++)
    yield commitOf(number, 'main', `file-${number}`, randomBytes(random_bytes).toString('base64'));
}

const movesOf = (id: number) => `/projects/${id}/repository_storage_moves`;

async function schedule({ api }: Instance, id: number, destination_storage_name: Storage): Promise<number> {
  const { status, body } = await api.post(movesOf(id), { destination_storage_name });
  if (status !== 201) throw new Error(`the move is refused: ${JSON.stringify(body)}`);
  return body.id;
}

async function reached({ api }: Instance, id: number, move: number, ...states: string[]): Promise<void> {
  for (;;) {
    const { state, error_message } = (await api.get(`${movesOf(id)}/${move}`)).body;
    if (states.includes(state)) return;
    if (state === 'failed') throw new Error(`the move has failed: ${error_message}`);
    await setTimeout(20);
  }
}

/** @returns the id of a project of 500 MB, and a bare repository with the same content */
async function largeProject({ api, url }: Instance, folder: string): Promise<{ large: number; source: string }> {
  const source = path.join(folder, 'large.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history());
  const { id } = (await api.post('/projects', { name: 'large' })).body;
  await git('-C', source, 'push', '--quiet', '--mirror', `${url.replace('://', `://root:${token}@`)}/root/large.git`);
  return { large: id, source };
}

async function copying(instance: Instance, folder: string): Promise<{ large: number; row: Row }> {
  const { large, source } = await largeProject(instance, folder);
  const clone = path.join(folder, 'clone.git');
  const moved_ms: number[] = [];
  const cloned_ms: number[] = [];
  for (const destination of ['second', 'third', 'fourth'] as const) {
    let move = 0;
    moved_ms.push(
      await timeOf(async () => {
        move = await schedule(instance, large, destination);
        await reached(instance, large, move, 'replicated', 'finished');
      }),
    );
    cloned_ms.push(
      await timeOf(async () => {
        await git('clone', '--quiet', '--mirror', source, clone);
        await git('-C', clone, 'fsck', '--no-progress');
      }),
    );
    await rm(clone, { recursive: true });
    await reached(instance, large, move, 'finished');
  }
  const target = '≤ 1.3×';
  return {
    large,
    row: timesRow(
      'move 500 MB, beside clone --mirror and fsck',
      measuredFrom(moved_ms),
      measuredFrom(cloned_ms),
      target,
    ),
  };
}

/** How long 95 of 100 requests take, while a large repository and many small ones are moved, beside none. */
async function besideMoves(instance: Instance, large: number): Promise<Row> {
  const { api, url } = instance;
  const seed = await seeded(api);
  const ids = [large];
  for (let number = 0; number < small; number++)
    ids.push((await api.post('/projects', { name: `small ${number}`, initialize_with_readme: true })).body.id);
  const answered = async () => {
    const answers = await sendSteadily(seed, url, rate, seconds);
    const failed = answers.filter(({ status }) => status < 200 || status >= 300).length;
    if (failed > 0) throw new Error(`${failed} of ${answers.length} requests have failed`);
    return answers.map(({ waited_ms }) => waited_ms);
  };
  await answered();
  const idle_ms = await answered();
  const moves: number[] = [];
  for (const id of ids) moves.push(await schedule(instance, id, id === large ? 'fifth' : 'second'));
  const busy_ms = await answered();
  for (const [index, id] of ids.entries()) await reached(instance, id, moves[index]!, 'replicated', 'finished');
  const [idle, busy] = [p95_ms(idle_ms), p95_ms(busy_ms)];
  return {
    ...plainRow(`P95 of ${rate} requests a second while moves run`, ms(busy), '≤ 2×', measuredFrom(busy_ms)),
    limit: ms(idle),
    ratio: `${(busy / idle).toFixed(2)}×`,
  };
}

/** Moves to the storage that they are on copy nothing, so that only scheduling is measured. */
async function scheduling(instance: Instance): Promise<Row> {
  const { api } = instance;
  const { body: namespaces } = await api.get('/namespaces');
  await fill(
    instance,
    ['projects'],
    `insert into projects (namespace_id, name, path, full_path, creator_id, default_branch)
       select namespaces.id, 'many ' || n, 'many-' || n, full_path || '/many-' || n, owner_id, 'main'
         from namespaces, generate_series(1, ${many}) n where namespaces.id = ${namespaces[0].id};`,
  );
  const { body: newest } = await api.get('/projects', { order_by: 'id', per_page: 1 });
  const [scheduled] = await inTurn(1, async () => {
    const all = '/project_repository_storage_moves';
    await api.post(all, { source_storage_name: 'default', destination_storage_name: 'default' });
    // They are scheduled in the order of the ids of their projects.
    while ((await api.get(all, { per_page: 1 })).body[0].project.id !== newest[0].id) await setTimeout(20);
  });
  return plainRow(`schedule the moves of ${many} projects`, ms(scheduled!.p50_ms), '≤ 10 s', scheduled);
}

/** @param folder for the data of an instance, its storages, and clones */
export async function measureStorageMoves(folder: string): Promise<Row[]> {
  const at = path.join(folder, 'storage_moves');
  for (const name of storages) await mkdir(path.join(at, name), { recursive: true });
  const instance = await startInstance(path.join(at, 'data'), {
    COPPICE_STORAGES: storages.map((name) => `${name}=${path.join(at, name)}`).join(','),
  });
  try {
    const { large, row } = await copying(instance, at);
    return [row, await besideMoves(instance, large), await scheduling(instance)];
  } finally {
    await instance.stop();
  }
}
