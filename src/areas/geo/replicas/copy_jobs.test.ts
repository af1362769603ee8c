/** The copies of a secondary. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type CopyingSite, copyingSite } from '../../../../test/support/copying_site.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { upload as uploadObject } from '../../../../test/support/lfs.ts';
import { fileUrl, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { moveJobs, pass } from '../../../../test/support/storage_moves.ts';
import { fileForm } from '../../../../test/support/uploads.ts';
import type { World } from '../../../../test/support/world.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { allRefs, fsck, git, placeOf, type Repository, refsChecksum, setKeptRefs } from '../../../git/index.ts';
import { copyPolls } from './index.ts';

const ours = 'project_repositories';

const commit = async ({ as }: World, project: { id: number }, file: string) => {
  const { status, body } = await as('owner').post(fileUrl(project, file), { ...onMain, content: file });
  assert.equal(status, 201, JSON.stringify(body));
};

const copyIn = ({ services }: CopyingSite, id: number, storage = 'default'): Repository => ({
  path: placeOf(services, { id, storage }),
});

/** A project with a commit, which is copied. */
async function copied(here: World, there: CopyingSite): Promise<{ id: number; source: Repository; copy: Repository }> {
  const { body: project } = await here
    .as('owner')
    .post('/projects', { name: `Copied ${Math.random()}`, namespace_id: here.group.id });
  await commit(here, project, 'one.txt');
  await there.copy();
  assert.equal((await there.replica(ours, project.id))?.state, 'synced');
  const source = { path: placeOf(here.services, { id: project.id, storage: 'default' }) };
  return { id: project.id, source, copy: copyIn(there, project.id) };
}

/** A file of the world's project. */
async function uploaded(here: World, content: string): Promise<{ key: BlobKey; sha256: string }> {
  const { status } = await here
    .as('owner')
    .post(`/projects/${here.project.id}/uploads`, undefined, { raw: fileForm('a.txt', content) });
  assert.equal(status, 201);
  const { blob_key, sha256 } = await here.db
    .selectFrom('uploads')
    .select(['blob_key', 'sha256'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return { key: blob_key as BlobKey, sha256 };
}

const isSame = async (one: Repository, other: Repository) =>
  assert.deepEqual([...(await allRefs(one))].sort(), [...(await allRefs(other))].sort());

test('everything is copied first, then only changes, and copies of deleted records are removed', async () => {
  const { here, there } = await copyingSite();
  const { as, project } = here;
  await commit(here, project, 'one.txt');
  const [head] = (await allRefs(repositoryIn(here))).values();
  await setKeptRefs(repositoryIn(here), new Map([[`refs/keep-around/${head}`, head!]]));
  const wiki = await as('owner').post(`/projects/${project.id}/wikis`, { title: 'a', content: 'a' });
  const snippet = await as('owner').post('/snippets', {
    title: 'a',
    file_name: 'a',
    content: 'a',
    visibility: 'private',
  });
  assert.deepEqual([wiki.status, snippet.status], [201, 201]);
  assert.equal((await uploadObject(here, 'owner', Buffer.from('large'))).status, 200);
  const upload = await uploaded(here, 'content');
  await there.copy();
  const states = await there.db
    .selectFrom('geo_replicas')
    .select(['replicable', 'state', 'verification_state'])
    .execute();
  assert.deepEqual(
    [...new Set(states.map(({ state, verification_state }) => `${state} ${verification_state}`))],
    ['synced verified'],
  );
  const kinds = ['lfs_objects', ours, 'project_wiki_repositories', 'snippet_repositories', 'uploads'];
  assert.deepEqual([...new Set(states.map(({ replicable }) => replicable))].sort(), kinds);
  const copy = copyIn(there, project.id);
  await isSame(copy, repositoryIn(here));
  assert.equal(await readFile(there.services.blobs.placeOf(upload.key), 'utf8'), 'content');

  await commit(here, project, 'two.txt');
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/repository/branches`, { branch: 'a', ref: 'main' })).status,
    201,
  );
  await there.follow();
  assert.equal((await there.replica(ours, project.id))?.state, 'pending');
  await there.copy();
  await isSame(copy, repositoryIn(here));
  // One ref takes the place of a folder of others, and HEAD becomes another.
  assert.equal((await as('owner').delete(`/projects/${project.id}/repository/branches/a`)).status, 204);
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/repository/branches`, { branch: 'a/b', ref: 'main' })).status,
    201,
  );
  await as('owner').put(`/projects/${project.id}`, { default_branch: 'a/b' });
  await there.copy();
  await isSame(copy, repositoryIn(here));
  assert.equal(await readFile(path.join(copy.path, 'HEAD'), 'utf8'), 'ref: refs/heads/a/b\n');
  assert.deepEqual(await fsck(copy), []);

  await here.db.deleteFrom('uploads').where('blob_key', '=', upload.key).execute();
  await here.db.deleteFrom('projects').where('id', '=', project.id).execute();
  await there.copy();
  assert.deepEqual([existsSync(copy.path), await there.services.blobs.stat(upload.key)], [false, undefined]);
  assert.deepEqual(
    [await there.replica(ours, project.id), await there.replica('uploads', upload.key)],
    [undefined, undefined],
  );
});

test('a damaged or missing repository of the primary is never copied over a good one', async () => {
  const { here, there } = await copyingSite();
  const { id, source, copy } = await copied(here, there);
  const good = await refsChecksum(copy);
  const branch = path.join(source.path, 'refs/heads/main');
  await rename(branch, `${source.path}/main.away`);
  const tell = async () => {
    await here.db
      .insertInto('geo_events')
      .values({ replicable: ours, record: String(id) })
      .execute();
    await there.copy();
    return (await there.replica(ours, id))!;
  };
  assert.equal((await tell()).state, 'failed');
  assert.equal(await refsChecksum(copy), good);
  await rename(`${source.path}/main.away`, branch);

  await commit(here, { id }, 'two.txt');
  const moved = await readFile(branch, 'utf8');
  await rm(branch);
  const damaged = await tell();
  assert.deepEqual(
    [damaged.state, damaged.last_sync_failure, damaged.retry_count],
    ['failed', "The primary's copy is damaged: the ref refs/heads/main is not where it was recorded", 1],
  );
  assert.equal(await refsChecksum(copy), good);
  await rename(source.path, `${source.path}.away`);
  const missing = await tell();
  assert.deepEqual(
    [missing.last_sync_failure, missing.missing_on_primary],
    ['The primary has no such repository.', true],
  );
  assert.equal(await refsChecksum(copy), good);
  await rename(`${source.path}.away`, source.path);
  await writeFile(branch, moved);
  assert.deepEqual([(await tell()).state, (await tell()).missing_on_primary], ['synced', false]);
  await isSame(copy, source);
});

test('objects lost on the primary are found when they are fetched, and other copies continue', async () => {
  const { here, there } = await copyingSite();
  const { id, source, copy } = await copied(here, there);
  const good = await refsChecksum(copy);
  await commit(here, { id }, 'two.txt');
  const objects = path.join(source.path, 'objects');
  await rename(objects, `${objects}.away`);
  await mkdir(objects);
  const other = await copied(here, there);
  const failed = (await there.replica(ours, id))!;
  assert.equal(failed.state, 'failed');
  assert.match(
    failed.last_sync_failure!,
    /^(?:The primary's copy is damaged|It could not be copied|The primary answers)/,
  );
  assert.deepEqual([await refsChecksum(copy), existsSync(other.copy.path)], [good, true]);
  await rm(objects, { recursive: true });
  await rename(`${objects}.away`, objects);
  await there.pass();
  await there.copy();
  await isSame(copy, source);
});

test('damage of a copy is found when it is verified, and heals by itself', async () => {
  const { here, there } = await copyingSite();
  const { source, copy, id } = await copied(here, there);
  const upload = await uploaded(here, 'content');
  await there.copy();
  const verify = async () => {
    await there.db
      .updateTable('geo_replicas')
      .set({ verified_at: new Date(0).toISOString() })
      .execute();
    await there.copy();
    await there.copy();
    await isSame(copy, source);
    assert.deepEqual(await fsck(copy), []);
    const replica = (await there.replica(ours, id))!;
    assert.deepEqual(
      [replica.state, replica.verification_state, replica.last_verification_failure],
      ['synced', 'verified', null],
    );
  };
  await verify();
  await rm(path.join(copy.path, 'refs/heads/main'), { force: true });
  await rm(path.join(copy.path, 'packed-refs'), { force: true });
  await verify();
  await rm(path.join(copy.path, 'objects'), { recursive: true });
  await mkdir(path.join(copy.path, 'objects'));
  await verify();
  await rm(copy.path, { recursive: true });
  await verify();
  await writeFile(there.services.blobs.placeOf(upload.key), 'CONTENT');
  await verify();
  assert.equal(await readFile(there.services.blobs.placeOf(upload.key), 'utf8'), 'content');
});

test('a copy that git cannot update is fetched again in full', async () => {
  const { here, there } = await copyingSite();
  const { source, copy, id } = await copied(here, there);
  await git(copy, 'pack-refs', ['--all']);
  await rm(path.join(copy.path, 'objects'), { recursive: true });
  await mkdir(path.join(copy.path, 'objects'));
  await commit(here, { id }, 'two.txt');
  for (let tries = 0; tries < 3; tries++) {
    await there.copy();
    await there.pass();
  }
  await isSame(copy, source);
  assert.deepEqual(await fsck(copy), []);
});

test('the rest of a file is fetched, and a file with other content is refused', async () => {
  const { here, there } = await copyingSite();
  const upload = await uploaded(here, 'a longer content');
  await there.follow();
  const begun = path.join(there.services.downloads, 'geo', createHash('sha256').update(upload.key).digest('hex'));
  await mkdir(path.dirname(begun), { recursive: true });
  await writeFile(begun, 'another');
  await there.copy();
  const refused = (await there.replica('uploads', upload.key))!;
  assert.deepEqual(
    [refused.state, refused.last_sync_failure],
    ['failed', 'The primary sends other bytes than it has recorded.'],
  );
  assert.deepEqual([await there.services.blobs.stat(upload.key), existsSync(begun)], [undefined, false]);
  await writeFile(begun, 'a longer');
  await there.pass();
  await there.copy();
  assert.equal((await there.replica('uploads', upload.key))?.state, 'synced');
  assert.equal(await readFile(there.services.blobs.placeOf(upload.key), 'utf8'), 'a longer content');
});

test('only selected records are copied, and copies that are no longer selected are removed', async () => {
  const { here, there } = await copyingSite();
  const { id, copy } = await copied(here, there);
  await commit(here, here.project, 'one.txt');
  await there.copy();
  const node = here.db.updateTable('geo_nodes').where('primary', '=', false);
  await node.set({ selective_sync_type: 'shards', selective_sync_shards: ['elsewhere'] }).execute();
  await there.copy();
  assert.deepEqual([existsSync(copy.path), await there.replica(ours, id)], [false, undefined]);
  await node.set({ selective_sync_type: 'namespaces' }).execute();
  const { id: geo_node_id } = await here.db
    .selectFrom('geo_nodes')
    .select('id')
    .where('primary', '=', false)
    .executeTakeFirstOrThrow();
  await here.db.insertInto('geo_node_namespaces').values({ geo_node_id, namespace_id: here.group.id }).execute();
  await there.copy();
  const rows = await there.db.selectFrom('geo_replicas').select('record').where('replicable', '=', ours).execute();
  assert.deepEqual(rows.map(({ record }) => Number(record)).sort(), [here.project.id, id].sort());
  await here.db.deleteFrom('geo_node_namespaces').execute();
  await node.set({ selective_sync_type: null }).execute();
  await there.copy();
  assert.equal(existsSync(copy.path), true);
});

test('a copy follows its repository to a storage of the same name, and is on `default` for any other', async () => {
  const { here, there } = await copyingSite();
  const { id, copy } = await copied(here, there);
  const move = async (destination_storage_name: string) => {
    const url = `/projects/${id}/repository_storage_moves`;
    assert.equal((await here.as('admin').post(url, { destination_storage_name })).status, 201);
    await performQueued(here.services, moveJobs);
    await pass(here);
    await performQueued(here.services, moveJobs);
    await there.copy();
  };
  const moved = copyIn(there, id, 'second');
  await move('second');
  assert.deepEqual([existsSync(copy.path), existsSync(moved.path)], [false, true]);
  await move('third');
  assert.deepEqual([existsSync(copy.path), existsSync(moved.path)], [true, false]);
  await isSame(copy, { path: placeOf(here.services, { id, storage: 'third' }) });
});

test('nothing is copied with a capacity of 0, and an unreachable primary is a failure', async () => {
  const { here, there } = await copyingSite();
  const node = here.db.updateTable('geo_nodes').where('primary', '=', false);
  await node.set({ repos_max_capacity: 0 }).execute();
  await commit(here, here.project, 'one.txt');
  await there.copy();
  assert.equal((await there.replica(ours, here.project.id))?.state, 'pending');
  await node.set({ repos_max_capacity: 25 }).execute();
  await there.follow();
  await performQueued(
    { ...there.services, geo: { ...there.services.geo, primaryUrl: 'http://127.0.0.1:1' } },
    copyPolls,
  );
  const failed = (await there.replica(ours, here.project.id))!;
  assert.match(failed.last_sync_failure!, /^The primary cannot be reached: /);
  assert.ok(Date.parse(failed.retry_at) > Date.now());
  // Somebody repairs the node.
  await node.set({ repair_requested_at: new Date().toISOString() }).execute();
  await there.copy();
  assert.equal((await there.replica(ours, here.project.id))?.state, 'synced');
});
