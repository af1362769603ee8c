/** The archives of uploads, large files and repositories. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { gitClient } from '../../../../test/support/git.ts';
import { objectFor, upload as uploadLfs } from '../../../../test/support/lfs.ts';
import { ageExports, download, exported, filesIn, statusOf } from '../../../../test/support/relation_exports.ts';
import { fileUrl, filledWorld, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { upload } from '../../../../test/support/uploads.ts';
import { world } from '../../../../test/support/world.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { git } from '../../../git/index.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n and the rest of it', 'latin1');

test('uploads are exported with the avatar, including files with long names and without lost files', async () => {
  const here = await world({});
  const { as, db, services } = here;
  for (const [place, who] of [
    [`/projects/${here.project.id}`, 'maintainer'],
    [`/groups/${here.group.id}`, 'owner'],
  ] as const) {
    const form = new FormData();
    form.append('avatar', new Blob([png]), 'pear.png');
    assert.equal((await as('owner').put(place, undefined, { raw: form })).status, 200);
    const long = `${'ü'.repeat(120)}.txt`;
    const added = [];
    for (const [name, content] of [
      ['one.txt', 'one'],
      ['lost.txt', 'lost'],
      [long, 'two'],
      ['empty.txt', ''],
    ] as const) {
      const { status, body } = await upload(here, who, place, name, content);
      assert.equal(status, 201);
      added.push(body.url.replace('/uploads/', ''));
    }
    const [one, lost, two, empty] = added;
    const row = db.selectFrom('uploads').select('blob_key').where('filename', '=', 'lost.txt').orderBy('id', 'desc');
    await services.blobs.remove((await row.executeTakeFirstOrThrow()).blob_key as BlobKey);
    await exported(here, who, place);
    const answer = await download(here, who, place, { relation: 'uploads' });
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="uploads.tar.gz"');
    const files = await filesIn(answer);
    assert.deepEqual([...files.keys()], ['avatar/pear.png', one, two, empty], lost);
    assert.deepEqual(files.get('avatar/pear.png'), png);
    assert.equal(files.get(two!)!.toString(), 'two');
    assert.equal((await statusOf(here, who, place, 'uploads')).total_objects_count, 4);

    // Batches hold the same, the avatar first.
    await as('admin').put('/application/settings', { relation_export_batch_size: 2 });
    await exported(here, who, place, { batched: true });
    const batch = async (number: number) => {
      const query = { relation: 'uploads', batched: 'true', batch_number: String(number) };
      return [...(await filesIn(await download(here, who, place, query))).keys()];
    };
    assert.deepEqual([await batch(1), await batch(2), await batch(3)], [['avatar/pear.png', one], [two], [empty]]);
    await as('admin').put('/application/settings', { relation_export_batch_size: 1000 });
  }
});

test('large files are exported under their oids, with the kinds of their repositories', async () => {
  const here = await world({});
  const place = `/projects/${here.project.id}`;
  const contents = ['first', 'second'].map((text) => Buffer.from(text));
  for (const content of contents) assert.equal((await uploadLfs(here, 'developer', content)).status, 200);
  await exported(here, 'maintainer', place);
  const files = await filesIn(await download(here, 'maintainer', place, { relation: 'lfs_objects' }));
  const oids = contents.map((content) => objectFor(content).oid);
  assert.deepEqual([...files.keys()], [...oids, 'lfs_objects.json']);
  assert.deepEqual(files.get(oids[1]!), contents[1]);
  const types = JSON.parse(files.get('lfs_objects.json')!.toString());
  assert.deepEqual(types, Object.fromEntries(oids.map((oid) => [oid, [0]])));
  assert.equal((await statusOf(here, 'maintainer', place, 'lfs_objects')).total_objects_count, 2);
});

test('git clones from the bundle of a repository, which has all refs', async () => {
  const here = await filledWorld({});
  const { as } = here;
  const place = `/projects/${here.project.id}`;
  const client = await gitClient();
  const done = async (args: string[], at?: string) => {
    const { code, stdout, stderr } = await client.run(args, at === undefined ? {} : { at });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const bundled = async () => {
    await ageExports(here, '4 minutes');
    await exported(here, 'maintainer', place);
    const answer = await download(here, 'maintainer', place, { relation: 'repository' });
    const etag = answer.headers.get('etag');
    const files = await filesIn(answer);
    assert.deepEqual([...files.keys()], ['repository.bundle']);
    return { etag, bundle: files.get('repository.bundle')! };
  };
  const repository = repositoryIn(here);
  await git(repository, 'update-ref', [], ['refs/keep-around/one', 'refs/heads/main']);
  const { etag, bundle } = await bundled();
  await writeFile(path.join(client.folder, 'repository.bundle'), bundle);
  await done(['clone', '-q', '--mirror', 'repository.bundle', 'copy.git']);
  const refs = ['for-each-ref', '--format=%(objectname) %(refname)'];
  const original = (await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)'])).toString();
  assert.match(original, /refs\/keep-around\/one/);
  assert.equal(await done(refs, 'copy.git'), original);
  assert.equal((await done(['symbolic-ref', 'HEAD'], 'copy.git')).trim(), 'refs/heads/main');
  await done(['fsck', '--full'], 'copy.git');
  assert.equal((await bundled()).etag, etag, 'the same bytes');
  assert.equal(
    (await as('maintainer').post(fileUrl(here.project, 'NEW.md'), { ...onMain, content: 'new' })).status,
    201,
  );
  assert.notEqual((await bundled()).etag, etag);
});

test('a repository without commits is an empty archive, and a SHA-256 repository a bundle with its object format', async () => {
  const here = await world({});
  const { as } = here;
  const place = `/projects/${here.project.id}`;
  await exported(here, 'maintainer', place);
  assert.equal((await statusOf(here, 'maintainer', place, 'repository')).total_objects_count, 0);
  assert.equal((await filesIn(await download(here, 'maintainer', place, { relation: 'repository' }))).size, 0);

  const made = { name: 'modern', path: 'modern', repository_object_format: 'sha256', initialize_with_readme: true };
  const { status, body } = await as('owner').post('/projects', made);
  assert.equal(status, 201, JSON.stringify(body));
  await exported(here, 'owner', `/projects/${body.id}`);
  const modern = await filesIn(await download(here, 'owner', `/projects/${body.id}`, { relation: 'repository' }));
  assert.match(modern.get('repository.bundle')!.toString('latin1'), /^# v3 git bundle\n@object-format=sha256\n/);
});

test('a repository that git cannot read fails its relation, with an error that contains no paths', async () => {
  const here = await filledWorld({});
  const place = `/projects/${here.project.id}`;
  await writeFile(path.join(repositoryIn(here).path, 'refs/heads/torn'), `${'1'.repeat(40)}\n`);
  for (let attempt = 0; attempt < 3; attempt++) {
    await exported(here, 'maintainer', place);
    await here.db.updateTable('relation_export_files').set({ due_at: sql<string>`now()` }).execute();
  }
  const { status, error } = await statusOf(here, 'maintainer', place, 'repository');
  assert.deepEqual([status, error], [-1, 'RepositoryUnreadable']);
  assert.equal((await statusOf(here, 'maintainer', place, 'uploads')).status, 1);
});
