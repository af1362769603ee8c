/** Push mirrors: a run that finds nothing new, beside `git ls-remote` of the same repository and one statement. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, startInstance, token } from './instance.ts';
import { measuredFrom, timeOf } from './measure.ts';
import { git } from './seed.ts';
import { type Row, timesRow } from './table.ts';

const branches = 500;
const turns = 20;

async function addProject({ api, url }: Instance, name: string): Promise<{ id: number; remote: string }> {
  const { body } = await api.post('/projects', { name, initialize_with_readme: name === 'Mirrored' });
  return { id: body.id, remote: `${url.replace('://', `://root:${token}@`)}/${body.path_with_namespace}.git` };
}

async function addBranches({ remote }: { remote: string }, folder: string): Promise<void> {
  const clone = path.join(folder, 'mirrored.git');
  await git('clone', '--quiet', '--bare', remote, clone);
  const names = Array.from({ length: branches }, (_, index) => `refs/heads/main:refs/heads/branch-${index}`);
  await git('-C', clone, 'push', '--quiet', remote, ...names);
}

/** Waits for a run of a mirror that has begun after another. @returns how long it took, by the clock of the server */
async function runAfter(
  { api }: Instance,
  mirror: string,
  before: string | null,
): Promise<{ at: string; took_ms: number }> {
  for (;;) {
    const { body } = await api.get(mirror);
    const { update_status, last_update_at: at, last_update_started_at: from } = body;
    if (update_status === 'finished' && at !== before) return { at, took_ms: Date.parse(at) - Date.parse(from) };
    if (update_status === 'failed') throw new Error(body.last_error);
    await sleep(20);
  }
}

/** @param folder for the data of an instance and for a clone */
export async function measureMirrors(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'mirrors'));
  try {
    const { api } = instance;
    await api.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
    const [mirrored, target] = [await addProject(instance, 'Mirrored'), await addProject(instance, 'Target')];
    await addBranches(mirrored, folder);
    const at = `/projects/${mirrored.id}/remote_mirrors`;
    const { body } = await api.post(at, { url: target.remote, enabled: true });
    const mirror = `${at}/${body.id}`;
    let last = (await runAfter(instance, mirror, null)).at;
    const [product_ms, limit_ms]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < turns; turn++) {
      await api.post(`${mirror}/sync`, {});
      const run = await runAfter(instance, mirror, last);
      last = run.at;
      product_ms.push(run.took_ms);
      limit_ms.push(
        await timeOf(async () => {
          await git('ls-remote', '--heads', '--tags', target.remote);
          await api.get('/version');
        }),
      );
    }
    return [
      timesRow(
        `push mirror of ${branches} branches, nothing new`,
        measuredFrom(product_ms),
        measuredFrom(limit_ms),
        '≤ 1.2×',
      ),
    ];
  } finally {
    await instance.stop();
  }
}
