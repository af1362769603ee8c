/** The events and checksums of a primary. */
import assert from 'node:assert/strict';
import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { upload as uploadObject } from '../../../../test/support/lfs.ts';
import { cloneFor } from '../../../../test/support/pushing.ts';
import { fileUrl, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { fileForm } from '../../../../test/support/uploads.ts';
import { type World, world } from '../../../../test/support/world.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { refsChecksum } from '../../../git/index.ts';
import { openMergeRequest, prepareMergeRequest } from '../../work/merge_requests/index.ts';
import { keepChecksums, primaryPolls } from './index.ts';

const work = [...primaryPolls, keepChecksums];

/** A world on a primary that has a secondary, and whose polls have seen it. */
async function primary(): Promise<World> {
  const here = await world({ environment: { COPPICE_GEO_ROLE: 'primary' } });
  const node = { name: 'Far away', url: 'https://far.example/' };
  await here.db
    .insertInto('geo_nodes')
    .values(node)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await performQueued(here.services, work);
  return here;
}

/** What events name since the last call. */
async function received(here: World): Promise<string[]> {
  const events = await here.db
    .selectFrom('geo_events')
    .select(['replicable', 'record'])
    .where('is_checked', '=', false)
    .execute();
  await performQueued(here.services, work);
  return [...new Set(events.map(({ replicable, record }) => `${replicable} ${record}`))].sort();
}

const checksumOf = ({ db }: World, replicable: string, record: number | string) =>
  db
    .selectFrom('geo_checksums')
    .selectAll()
    .where('replicable', '=', replicable)
    .where('record', '=', String(record))
    .executeTakeFirst();

/** The checksum of the world's project, which is due again. */
async function recheck(here: World) {
  await here.db
    .updateTable('geo_checksums')
    .set({ due_at: new Date(0).toISOString() })
    .execute();
  await performQueued(here.services, work);
  return (await checksumOf(here, 'project_repositories', here.project.id))!;
}

const commit = async (here: World, file: string) => {
  const { status } = await here.as('maintainer').post(fileUrl(here.project, file), { ...onMain, content: file });
  assert.equal(status, 201);
};

test('changes of repositories become events, and their checksums cover all refs', async () => {
  const here = await primary();
  const { as, project, group } = here;
  const ours = `project_repositories ${project.id}`;
  const isRight = async () => {
    const row = await checksumOf(here, 'project_repositories', project.id);
    assert.deepEqual([row?.checksum, row?.head, row?.failure], [await refsChecksum(repositoryIn(here)), 'main', null]);
  };
  await isRight();
  await commit(here, 'one.txt');
  assert.deepEqual(await received(here), [ours]);
  await isRight();
  const clone = await cloneFor(here, 'maintainer');
  await clone.begin('topic');
  await clone.commit();
  assert.equal((await clone.push('http', 'topic')).code, 0);
  assert.deepEqual(await received(here), [ours]);
  await isRight();
  // A merge request keeps refs that the journal does not know of.
  const merge = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
  assert.equal((await as('maintainer').post(`/projects/${project.id}/merge_requests`, merge)).status, 201);
  await performQueued(here.services, [openMergeRequest, prepareMergeRequest]);
  assert.deepEqual(await received(here), [ours]);
  await isRight();
  await as('maintainer').put(`/projects/${project.id}`, { default_branch: 'topic' });
  assert.deepEqual(await received(here), [ours]);
  assert.equal((await checksumOf(here, 'project_repositories', project.id))?.head, 'topic');

  const snippet = await as('maintainer').post('/snippets', {
    title: 'a',
    file_name: 'a',
    content: 'a',
    visibility: 'private',
  });
  const wiki = await as('maintainer').post(`/projects/${project.id}/wikis`, { title: 'a', content: 'a' });
  const ofGroup = await as('owner').post(`/groups/${group.id}/wikis`, { title: 'a', content: 'a' });
  assert.deepEqual([snippet.status, wiki.status, ofGroup.status], [201, 201, 201]);
  const names = (await received(here)).map((name) => name.replace(/ .*/, ''));
  assert.deepEqual(names, ['group_wiki_repositories', 'project_wiki_repositories', 'snippet_repositories']);
  assert.notEqual((await checksumOf(here, 'snippet_repositories', snippet.body.id))?.checksum, undefined);

  assert.equal((await as('maintainer').delete(`/snippets/${snippet.body.id}`)).status, 204);
  assert.deepEqual(await received(here), [`snippet_repositories ${snippet.body.id}`]);
  assert.equal(await checksumOf(here, 'snippet_repositories', snippet.body.id), undefined);
});

test('added and deleted blobs become events with their SHA-256', async () => {
  const here = await primary();
  const uploaded = await here
    .as('maintainer')
    .post(`/projects/${here.project.id}/uploads`, undefined, { raw: fileForm('a.txt', 'a') });
  assert.equal(uploaded.status, 201);
  const { blob_key, sha256 } = await here.db
    .selectFrom('uploads')
    .select(['blob_key', 'sha256'])
    .where('project_id', '=', here.project.id)
    .executeTakeFirstOrThrow();
  assert.deepEqual(await received(here), [`uploads ${blob_key}`]);
  const row = await checksumOf(here, 'uploads', blob_key);
  assert.deepEqual([row?.checksum, row?.size_bytes, row?.failure], [sha256, 1, null]);

  assert.equal((await uploadObject(here, 'maintainer', Buffer.from('large'))).status, 200);
  const [object] = await received(here);
  assert.match(object!, /^lfs_objects lfs\/[0-9a-f]{64}$/);
  assert.equal((await checksumOf(here, 'lfs_objects', object!.split(' ')[1]!))?.checksum, object!.slice(-64));

  const damaged = here.services.blobs.placeOf(blob_key as BlobKey);
  await appendFile(damaged, 'b');
  await recheck(here);
  assert.match((await checksumOf(here, 'uploads', blob_key))!.failure!, /^its SHA-256 is /);
  await rm(damaged);
  await recheck(here);
  assert.equal((await checksumOf(here, 'uploads', blob_key))?.is_missing, true);
  await here.db.deleteFrom('uploads').where('blob_key', '=', blob_key).execute();
  assert.deepEqual(await received(here), [`uploads ${blob_key}`]);
  assert.equal(await checksumOf(here, 'uploads', blob_key), undefined);
});

test('damaged and missing records are distinguished, and the earlier checksum is kept', async () => {
  const here = await primary();
  await commit(here, 'one.txt');
  await received(here);
  const sound = await recheck(here);
  assert.equal(sound.failure, null);
  const repository = repositoryIn(here).path;
  const branch = path.join(repository, 'refs/heads/main');
  await rename(branch, `${repository}/main.away`);
  const lost = await recheck(here);
  assert.deepEqual(
    [lost.failure, lost.checksum],
    ['the ref refs/heads/main is not where it was recorded', sound.checksum],
  );
  await writeFile(branch, '');
  assert.equal((await recheck(here)).failure, 'the ref refs/heads/main cannot be read');
  await rename(`${repository}/main.away`, branch);
  const objects = path.join(repository, 'objects');
  await rename(objects, `${objects}.away`);
  assert.notEqual((await recheck(here)).failure, null);
  await rename(`${objects}.away`, objects);
  await rename(repository, `${repository}.away`);
  const missing = await recheck(here);
  assert.deepEqual([missing.is_missing, missing.failure, missing.checksum], [true, 'it is missing', sound.checksum]);
  await rename(`${repository}.away`, repository);
  const healed = await recheck(here);
  assert.deepEqual([healed.is_missing, healed.failure, healed.checksum], [false, null, sound.checksum]);
});

test('events are deleted after a day, and nothing is recorded without a secondary', async () => {
  const here = await primary();
  await commit(here, 'one.txt');
  const old = new Date(Date.now() - 25 * 3600 * 1000).toISOString();
  await here.db.updateTable('geo_events').set({ created_at: old }).execute();
  await performJob(here.services, keepChecksums);
  assert.deepEqual(await received(here), [`project_repositories ${here.project.id}`]);
  await performJob(here.services, keepChecksums);
  const count = async () => (await here.db.selectFrom('geo_events').select('id').execute()).length;
  assert.equal(await count(), 0);
  await here.db.deleteFrom('geo_nodes').where('primary', '=', false).execute();
  await performQueued(here.services, work);
  await commit(here, 'two.txt');
  assert.equal(await count(), 0);
  assert.equal(await checksumOf(here, 'project_repositories', here.project.id), undefined);
});
