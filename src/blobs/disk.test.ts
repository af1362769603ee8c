import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { BlobMismatch, diskBlobs } from './index.ts';

async function place(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-blobs-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return { folder, blobs: diskBlobs(folder), files };
}

const bytes = Buffer.from('one two three');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const expected = { size_bytes: bytes.length, sha256 };
const key = `lfs/${sha256}` as const;
const source = (...chunks: Buffer[]) => Readable.from(chunks, { objectMode: false });

test('a blob is seen when it is kept, whole or in part, and not any more when it is removed', async (t) => {
  const { blobs, files } = await place(t);
  const received = await blobs.receive(source(bytes.subarray(0, 5), bytes.subarray(5)), expected);
  assert.equal(await blobs.read(key), undefined);
  await received.keep(key);
  await received.discard();
  assert.deepEqual(await buffer((await blobs.read(key))!), bytes);
  assert.equal((await buffer((await blobs.read(key, { start: 4, end: 6 }))!)).toString(), 'two');
  assert.deepEqual(await files(), [path.join('lfs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)]);

  const again = await blobs.receive(source(bytes), expected);
  await again.keep(key);
  assert.equal((await files()).length, 1);

  const reader = (await blobs.read(key))!;
  await blobs.remove(key);
  await blobs.remove(key);
  assert.deepEqual(await buffer(reader), bytes);
  assert.deepEqual(await files(), []);
});

test('an empty blob is a blob', async (t) => {
  const { blobs } = await place(t);
  const empty = createHash('sha256').digest('hex');
  await (await blobs.receive(source(), { size_bytes: 0, sha256: empty })).keep(`lfs/${empty}`);
  assert.equal((await buffer((await blobs.read(`lfs/${empty}`))!)).length, 0);
});

test('a blob that differs from its announcement or is cut off leaves nothing behind', async (t) => {
  const { blobs, files } = await place(t);
  const mismatch = (what: string) => (error: unknown) => error instanceof BlobMismatch && error.what === what;
  await assert.rejects(blobs.receive(source(bytes), { ...expected, size_bytes: 14 }), mismatch('size'));
  await assert.rejects(blobs.receive(source(Buffer.from('one two four!')), expected), mismatch('digest'));

  const tooLong = source(bytes, bytes, bytes);
  await assert.rejects(blobs.receive(tooLong, expected), mismatch('size'));
  assert.equal(tooLong.destroyed, false);
  tooLong.destroy();

  const broken = new Readable({ read() {} });
  broken.push(bytes.subarray(0, 3));
  const receiving = blobs.receive(broken, expected);
  broken.destroy(new Error('the client is gone'));
  await assert.rejects(receiving, /the client is gone/);

  await (await blobs.receive(source(bytes), expected)).discard();
  assert.deepEqual(await files(), []);
});

test('a blob of unannounced size is accepted up to a limit', async (t) => {
  const { blobs, files } = await place(t);
  const received = await blobs.receive(source(bytes), { at_most_bytes: bytes.length });
  assert.deepEqual([received.size_bytes, received.sha256], [bytes.length, sha256]);
  await received.keep('images/abcdef');
  assert.deepEqual(await buffer((await blobs.read('images/abcdef'))!), bytes);
  await assert.rejects(blobs.receive(source(bytes), { at_most_bytes: bytes.length - 1 }), BlobMismatch);
  assert.equal((await files()).length, 1);
});

test('what killed receptions have left is swept by age', async (t) => {
  const { blobs, folder, files } = await place(t);
  assert.equal(await blobs.sweep(0), 0);
  const fresh = await blobs.receive(source(bytes), expected);
  const left = path.join(folder, '.incoming', 'left');
  await writeFile(left, 'half');
  await utimes(left, new Date(0), new Date(0));
  assert.equal(await blobs.sweep(60_000), 1);
  await fresh.keep(key);
  assert.deepEqual(await readFile(path.join(folder, (await files())[0]!)), bytes);
});

test('no key leads out of the folder', async (t) => {
  const { blobs } = await place(t);
  for (const wrong of ['lfs/../../etc/passwd', '../abcdef', 'lfs/..ab', '.incoming/abcd', 'lfs/ab'] as const)
    await assert.rejects(async () => blobs.read(wrong), TypeError);
});
