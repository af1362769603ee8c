import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { objectFor, pointerFor, upload } from '../../../../../test/support/lfs.ts';
import { fileUrl, filledWorld, headOf, onMain } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { isArchiveFormatKnown } from '../../../../git/index.ts';

/** The reply as bytes, which the client of the tests would take for text. */
async function download(here: World, path: string): Promise<{ status: number; headers: Headers; body: Buffer }> {
  const answer = await fetch(`${here.url}/api/v4${path}`, { headers: { 'private-token': here.as('reporter').token! } });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

/** The names in a tar archive: each file begins a block with its name, and says `ustar` and the beginning of a long name further on. */
function namesIn(tar: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    if (tar.toString('latin1', at + 257, at + 262) !== 'ustar' || tar.toString('latin1', at + 156, at + 157) === 'g')
      continue;
    const text = (start: number, end: number) => tar.toString('utf8', start, end).replace(/\0.*$/s, '');
    const [name, beginning] = [text(at, at + 100), text(at + 345, at + 500)];
    names.push(beginning === '' ? name : `${beginning}/${name}`);
  }
  return names;
}

test('the files of a commit are downloaded as an archive', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  await as('maintainer').post(fileUrl(project, 'docs/guide'), { ...onMain, content: 'x' });
  const head = await headOf(here);
  const archive = `/projects/${project.id}/repository/archive`;
  const plain = await download(here, archive);
  const folder = `${project.path}-main-${head}`;
  assert.equal(plain.status, 200);
  assert.equal(
    plain.headers.get('content-disposition'),
    `attachment; filename="${folder}.tar.gz"; filename*=UTF-8''${folder}.tar.gz`,
  );
  assert.deepEqual(namesIn(gunzipSync(plain.body)), [
    `${folder}/`,
    `${folder}/README.md`,
    `${folder}/docs/`,
    `${folder}/docs/guide`,
  ]);

  const part = await download(here, `${archive}.tar?path=docs&sha=${head}`);
  const part_folder = `${project.path}-${head}-${head}-docs`;
  assert.deepEqual(namesIn(part.body), [`${part_folder}/`, `${part_folder}/docs/`, `${part_folder}/docs/guide`]);
  const known = await as('reporter').head(`${archive}.zip`);
  assert.deepEqual([known.status, known.headers.get('content-type')], [200, 'application/zip']);
});

test('every extension selects its format, and unknown ones are refused', async () => {
  const here = await filledWorld();
  const archive = `/projects/${here.project.id}/repository/archive`;
  const bzip2 = (await isArchiveFormatKnown('tar.bz2')) ? 'BZ' : undefined;
  const signatures = {
    'tar.gz': '\x1f\x8b',
    tgz: '\x1f\x8b',
    gz: '\x1f\x8b',
    zip: 'PK',
    tar: 'pa',
    'tar.bz2': bzip2,
    tbz: bzip2,
    tbz2: bzip2,
    tb2: bzip2,
    bz2: bzip2,
  };
  for (const [extension, signature] of Object.entries(signatures)) {
    const { status, headers, body } = await download(here, `${archive}.${extension}`);
    assert.equal(status, signature === undefined ? 406 : 200, extension);
    if (signature === undefined) continue;
    if (extension !== 'tar') assert.equal(body.toString('latin1', 0, 2), signature, extension);
    assert.match(headers.get('content-disposition') ?? '', new RegExp(`\\.${extension}"`));
  }
  for (const extension of ['rar', 'constructor', '-o']) {
    const refused = await here.as('reporter').get(`${archive}.${extension}`);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [406, `The requested format '${extension}' is not supported.`],
    );
  }
});

test('there is no archive of a missing ref or a hidden project', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const archive = `/projects/${project.id}/repository/archive`;
  for (const parameters of [{ sha: 'absent' }, { sha: '--output=/tmp/x' }, { path: 'absent' }, { path: '../..' }]) {
    const missing = await as('reporter').get(`${archive}.zip`, parameters);
    assert.deepEqual([missing.status, missing.body], [404, { message: '404 File Not Found' }]);
  }
  assert.equal((await as('guest').get(archive)).status, 403);
  assert.equal((await as('outsider').get(archive)).status, 404);
  const empty = await world();
  assert.equal((await empty.as('reporter').get(`/projects/${empty.project.id}/repository/archive`)).status, 404);

  await as('developer').post(`/projects/${project.id}/repository/branches`, { branch: 'a/"b', ref: 'main' });
  const odd = await download(here, `${archive}.tar?sha=${encodeURIComponent('a/"b')}`);
  assert.match(odd.headers.get('content-disposition') ?? '', /^attachment; filename="project-\d+-a-_b-/);
});

/** The contents in a tar archive by the ends of their names. */
function contentsIn(tar: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    contents.set(name.slice(name.indexOf('/') + 1), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return contents;
}

test('an archive contains large files instead of their pointers, unless they are excluded', async () => {
  const here = await filledWorld();
  const { as, project, db } = here;
  const large = Buffer.alloc(300_000, 'a large file, ');
  assert.equal((await upload(here, 'developer', large)).status, 200);
  const [pointer, foreign] = [pointerFor(objectFor(large)), pointerFor(objectFor('of no project'))];
  const files = {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'a.bin': pointer,
    'docs/b.bin': pointer,
    'foreign.bin': foreign,
    'no pointer.bin': `${'x'.repeat(200_000)}`,
    'empty.bin': '',
    'unmarked.txt': pointer,
  };
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const url = `/projects/${project.id}/repository`;
  assert.equal((await as('maintainer').post(`${url}/commits`, { ...onMain, actions })).status, 201);
  const kept = {
    'foreign.bin': foreign,
    'no pointer.bin': files['no pointer.bin'],
    'empty.bin': '',
    'unmarked.txt': pointer,
  };
  const expect = async (query: string, contents: Record<string, string | Buffer>) => {
    const { status, body } = await download(here, `${url}/archive.tar${query}`);
    assert.equal(status, 200);
    const found = contentsIn(body);
    for (const [name, content] of Object.entries(contents))
      assert.ok(found.get(name)?.equals(Buffer.from(content)), `${query} ${name}`);
  };
  await expect('', { 'a.bin': large, 'docs/b.bin': large, ...kept });
  await expect('?path=docs', { 'docs/b.bin': large });
  await expect('?include_lfs_blobs=false', { 'a.bin': pointer, 'docs/b.bin': pointer, ...kept });
  const zip = await download(here, `${url}/archive.zip`);
  assert.equal(zip.status, 200);
  await db.updateTable('projects').set({ lfs_enabled: false }).where('id', '=', project.id).execute();
  await expect('', { 'a.bin': pointer, ...kept });
});
