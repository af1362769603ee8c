/** Two sites: repositories and files of the primary are copied to the secondary. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { allRefs, diskPath, fsck } from '../../src/git/index.ts';
import { addNode, eventually, isReady, type Site, startPrimary, startSecondary } from '../support/two_sites.ts';
import { fileForm } from '../support/uploads.ts';
import { coppice } from './coppice.ts';

const repositoryOf = (site: Site, id: number) => ({
  path: path.join(site.environment.COPPICE_DATA, 'repositories', `${diskPath(id)}.git`),
});

const refsOf = async (site: Site, id: number) => JSON.stringify([...(await allRefs(repositoryOf(site, id)))].sort());

const isCopied = (primary: Site, secondary: Site, id: number) =>
  eventually('the copy', async () => {
    const [replica] = await secondary.ask(`select from geo_replicas where record = '${id}' and state = 'synced'`);
    return replica !== undefined && (await refsOf(primary, id)) === (await refsOf(secondary, id));
  });

async function commit({ server }: Site, id: number, file: string): Promise<void> {
  const change = { branch: 'main', commit_message: 'Add a file', content: file };
  const { status, body } = await server.root.post(`/projects/${id}/repository/files/${file}`, change);
  assert.equal(status, 201, JSON.stringify(body));
}

test('repositories and files are copied to a secondary, whatever is killed or lost', async (t) => {
  const primary = await startPrimary();
  const { body: project } = await primary.server.root.post('/projects', { name: 'Orchard' });
  await commit(primary, project.id, 'apples');
  const uploaded = await primary.server.root.post(`/projects/${project.id}/uploads`, undefined, { raw: fileForm('a.txt', 'a') });
  assert.equal(uploaded.status, 201);
  await addNode(primary);
  const secondary = await startSecondary(primary);
  await eventually('the first copy', () => isReady(secondary));

  await t.test('what was there is copied', async () => {
    await isCopied(primary, secondary, project.id);
    await eventually('the file', async () => {
      const [file] = await secondary.ask(`select from geo_replicas where replicable = 'uploads' and state = 'synced'`);
      return file !== undefined;
    });
  });

  await t.test('what changes is copied, also after either server was killed', async () => {
    await commit(primary, project.id, 'pears');
    await isCopied(primary, secondary, project.id);
    await commit(primary, project.id, 'plums');
    await secondary.kill();
    await commit(primary, project.id, 'cherries');
    await secondary.restart();
    await isCopied(primary, secondary, project.id);
    await commit(primary, project.id, 'quinces');
    await primary.kill();
    await primary.restart();
    await isCopied(primary, secondary, project.id);
  });

  await t.test('damage is found by `geo verify`, and heals', async () => {
    const { path: copy } = repositoryOf(secondary, project.id);
    await rm(path.join(copy, 'objects'), { recursive: true });
    await mkdir(path.join(copy, 'objects'));
    const { code, out } = await coppice(['geo', 'verify'], secondary.environment);
    assert.deepEqual([code, out], [0, '2 repositories and files will be verified.\n']);
    await eventually('the healing', async () => {
      const problems = await fsck(repositoryOf(secondary, project.id)).catch(() => undefined);
      return problems?.length === 0 && (await refsOf(primary, project.id)) === (await refsOf(secondary, project.id));
    });
    assert.equal((await coppice(['geo', 'verify'], primary.environment)).code, 0);
  });

  await t.test('copies stay while the database is copied anew', async () => {
    const { path: copy } = repositoryOf(secondary, project.id);
    const { ino } = await stat(copy);
    await eventually('the end of the slot', async () => {
      await primary.ask('select pg_terminate_backend(active_pid) from pg_replication_slots where active_pid is not null');
      return primary.ask('select pg_drop_replication_slot(slot_name) from pg_replication_slots').then(
        () => true,
        () => false,
      );
    });
    await commit(primary, project.id, 'medlars');
    await isCopied(primary, secondary, project.id);
    assert.equal((await stat(copy)).ino, ino);
  });

  await t.test('what is deleted is removed', async () => {
    await primary.ask(`delete from projects where id = ${project.id}`);
    await eventually('the end of the copy', async () => !existsSync(repositoryOf(secondary, project.id).path));
    await eventually('the end of its row', async () => {
      const rows = await secondary.ask(`select from geo_replicas where replicable in ('project_repositories', 'uploads')`);
      return rows.length === 0;
    });
  });
});
