/** Repositories and files are copied to a secondary, whatever is killed, lost or damaged. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually, type Sites } from '../../support/two_sites.ts';
import { fileForm } from '../../support/uploads.ts';
import { coppice } from '../coppice.ts';
import { commit, isCopied, isRemoved, isWhole, makeProject, refsOf, replicaOf, repositoryOf } from './repositories.ts';

/** The git that fetches into a copy, as long as it runs. */
async function fetchOf({ secondary }: Sites, id: number): Promise<number | undefined> {
  const { path: copy } = repositoryOf(secondary, id);
  const incoming = `.incoming-${path.basename(copy)}`;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (words.includes(incoming) && words.includes('\0fetch\0')) return Number(pid);
  }
  return undefined;
}

/** @returns whether the process was still there */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Commits until the git that fetches the change can be killed before it ends. */
async function killFetch(sites: Sites, id: number): Promise<void> {
  let count = 0;
  await eventually('a killed fetch', async () => {
    await commit(sites.primary, id, `windfall-${++count}`);
    for (;;) {
      const pid = await fetchOf(sites, id);
      if (pid !== undefined) return kill(pid);
      if ((await refsOf(sites.primary, id)) === (await refsOf(sites.secondary, id))) return false;
    }
  });
}

/** Lets the time pass that a copy waits after a failure. */
const pass = ({ secondary }: Sites) => secondary.ask(`update geo_replicas set retry_at = now() where state = 'failed'`);

export async function copying(t: TestContext, sites: Sites): Promise<void> {
  const { primary, secondary } = sites;
  const project = await makeProject(primary, { name: 'Pomes' });
  const uploaded = await primary.server.root.post(`/projects/${project}/uploads`, undefined, {
    raw: fileForm('a.txt', 'a'),
  });
  assert.equal(uploaded.status, 201);

  await t.test('what is there is copied', async () => {
    await isCopied(sites, project);
    await eventually('the file', async () => {
      const [file] = await secondary.ask(`select from geo_replicas where replicable = 'uploads' and state = 'synced'`);
      return file !== undefined;
    });
  });

  await t.test('what changes is copied, also after either server or git was killed', async () => {
    await commit(primary, project, 'plums');
    await secondary.kill();
    await commit(primary, project, 'cherries');
    await secondary.restart();
    await isCopied(sites, project);
    await commit(primary, project, 'quinces');
    await primary.kill();
    await primary.restart();
    await isCopied(sites, project);
    await killFetch(sites, project);
    await eventually('the failure', async () => (await replicaOf(sites, project))?.state === 'failed');
    assert.ok(await isWhole(secondary, project));
    await pass(sites);
    await isCopied(sites, project);
  });

  await t.test('damage is found by `geo verify`, and heals', async () => {
    const objects = path.join(repositoryOf(secondary, project).path, 'objects');
    await rm(objects, { recursive: true });
    await mkdir(objects);
    const { code, out } = await coppice(['geo', 'verify'], secondary.environment);
    assert.equal(code, 0);
    assert.match(out, /^\d+ repositories and files will be verified\.\n$/);
    await eventually('the healing', () => isWhole(secondary, project));
    await isCopied(sites, project);
  });

  await t.test('a good copy stays when the repository of the primary is damaged', async () => {
    const before = await refsOf(secondary, project);
    const objects = path.join(repositoryOf(primary, project).path, 'objects');
    await rename(objects, `${objects}-kept`);
    await mkdir(objects);
    assert.equal((await coppice(['geo', 'verify'], primary.environment)).code, 0);
    await eventually('the report', async () => {
      const { body } = await secondary.server.root.get(`/geo_nodes/status`);
      return body.some(({ health }: { health: string }) => /1 repository of the primary is damaged\./.test(health));
    });
    // As if a change had come.
    await primary.ask(`insert into geo_events (replicable, record) values ('project_repositories', '${project}')`);
    await eventually('the failure', async () => {
      const { state, last_sync_failure } = (await replicaOf(sites, project))!;
      return state === 'failed' && last_sync_failure?.startsWith("The primary's copy is damaged: ");
    });
    assert.equal(await refsOf(secondary, project), before);
    assert.ok(await isWhole(secondary, project));
    await rm(objects, { recursive: true });
    await rename(`${objects}-kept`, objects);
    assert.equal((await coppice(['geo', 'verify'], primary.environment)).code, 0);
    await eventually('the repair', async () => {
      await pass(sites);
      return (await replicaOf(sites, project))?.state === 'synced';
    });
  });

  await t.test('what is deleted is removed', async () => {
    await primary.ask(`delete from projects where id = ${project}`);
    await isRemoved(sites, project);
    await eventually('the end of the file', async () => {
      return (await secondary.ask(`select from geo_replicas where replicable = 'uploads'`)).length === 0;
    });
  });
}
