/** Every case runs over a folder and over an object store. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { credentials, objectStore } from '../../test/support/s3.ts';
import { type BlobKey, BlobMismatch, BlobStoreError, type Blobs, diskBlobs, type S3Place, s3Blobs } from './index.ts';

interface Place {
  blobs: Blobs;
  /** The paths of all blobs, and of what was set aside. */
  paths(): Promise<string[]>;
  /** How many receptions have left something that is no blob. */
  remains(): Promise<number>;
  /** Leaves what a killed reception leaves. */
  leaveRemains(): Promise<void>;
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-blobs-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

async function inFolder(t: TestContext): Promise<Place> {
  const folder = await temporaryFolder(t);
  const isRemain = (name: string) => name.startsWith('.incoming');
  return {
    blobs: diskBlobs(folder),
    paths: async () => (await filesBelow(folder)).filter((name) => !isRemain(name)).sort(),
    remains: async () => (await filesBelow(folder)).filter(isRemain).length,
    leaveRemains: async () => {
      // A reception makes the folder.
      await (await diskBlobs(folder).receive('lfs/abcdef', Readable.from([]), { at_most_bytes: 0 })).discard();
      const left = path.join(folder, '.incoming', 'left');
      await writeFile(left, 'half');
      await utimes(left, new Date(0), new Date(0));
    },
  };
}

let store: ReturnType<typeof objectStore> | undefined;
let prefixes = 0;

/** Below a prefix of its own in the bucket that the tests share. */
async function inBucket(t: TestContext): Promise<Place & { s3: S3Place; folder: string }> {
  const before = { ...process.env };
  Object.assign(process.env, credentials);
  t.after(() => {
    for (const name of Object.keys(credentials)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  store ??= objectStore();
  const { endpoint, bucket, objects, uploads } = await store;
  const folder = await temporaryFolder(t);
  const prefix = `place/${++prefixes}/`;
  const s3 = { kind: 's3', bucket, prefix, endpoint, region: 'us-east-1', path_style: true } as const;
  const blobs = s3Blobs(s3, folder);
  return {
    s3,
    folder,
    blobs,
    paths: async () =>
      (await objects()).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)),
    remains: async () => (await uploads()) + (await filesBelow(folder)).length,
    leaveRemains: async () => {
      const { S3 } = await import('@aws-sdk/client-s3');
      const client = new S3({ endpoint, region: 'us-east-1', forcePathStyle: true });
      for (const name of ['lfs/ab/cd/abcdef', 'elsewhere'])
        await client.createMultipartUpload({ Bucket: bucket, Key: prefix + name });
    },
  };
}

const bytes = Buffer.from('one two three');
const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const announced = (content: Buffer) => ({ size_bytes: content.length, sha256: digest(content) });
const expected = announced(bytes);
const key: BlobKey = `lfs/${expected.sha256}`;
const pathOf = (sha256: string) => `lfs/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
const source = (...chunks: Buffer[]) => Readable.from(chunks, { objectMode: false });
const mismatch = (what: string) => (error: unknown) => error instanceof BlobMismatch && error.what === what;

/** Three parts of an upload to an object store. */
const large = randomBytes(12 * 1024 * 1024);

for (const [where, open] of Object.entries({ 'in a folder': inFolder, 'in a bucket': inBucket })) {
  test(`${where}, a blob is seen when it is kept, whole or in part, and not any more when it is removed`, async (t) => {
    const { blobs, paths, remains } = await open(t);
    const received = await blobs.receive(key, source(bytes.subarray(0, 5), bytes.subarray(5)), expected);
    assert.deepEqual([await blobs.read(key), await blobs.stat(key)], [undefined, undefined]);
    await received.keep();
    await received.discard();
    assert.deepEqual(await buffer((await blobs.read(key))!), bytes);
    assert.equal((await buffer((await blobs.read(key, { start: 4, end: 6 }))!)).toString(), 'two');
    assert.equal((await buffer((await blobs.read(key, { start: 8, end: 99 }))!)).toString(), 'three');
    assert.equal((await blobs.stat(key))?.size_bytes, bytes.length);
    assert.deepEqual(await paths(), [pathOf(expected.sha256)]);
    assert.ok(blobs.placeOf(key).startsWith(blobs.address) && blobs.placeOf(key).endsWith(pathOf(expected.sha256)));

    const again = await blobs.receive(key, source(bytes), expected);
    await again.keep();
    assert.equal((await paths()).length, 1);

    await blobs.remove(key);
    await blobs.remove(key);
    assert.deepEqual([await blobs.read(key), await paths(), await remains()], [undefined, [], 0]);
  });

  test(`${where}, an empty blob is a blob`, async (t) => {
    const { blobs } = await open(t);
    const empty = announced(Buffer.alloc(0));
    await (await blobs.receive(`lfs/${empty.sha256}`, source(), empty)).keep();
    assert.equal((await buffer((await blobs.read(`lfs/${empty.sha256}`))!)).length, 0);
    assert.equal((await blobs.stat(`lfs/${empty.sha256}`))?.size_bytes, 0);
  });

  test(`${where}, a large blob appears at once, and leaves nothing behind when it is cut off or discarded`, async (t) => {
    const { blobs, paths, remains } = await open(t);
    const whole = announced(large);
    const chunks = Array.from({ length: 192 }, (_, index) => large.subarray(index * 65_536, (index + 1) * 65_536));
    const received = await blobs.receive(`lfs/${whole.sha256}`, source(...chunks), whole);
    assert.deepEqual(await paths(), []);
    await received.keep();
    assert.equal(digest(await buffer((await blobs.read(`lfs/${whole.sha256}`))!)), whole.sha256);
    assert.equal((await blobs.stat(`lfs/${whole.sha256}`))?.size_bytes, large.length);
    await blobs.remove(`lfs/${whole.sha256}`);

    await (await blobs.receive(`lfs/${whole.sha256}`, source(...chunks), whole)).discard();
    await assert.rejects(blobs.receive(key, source(...chunks, bytes), whole), mismatch('size'));
    await assert.rejects(
      blobs.receive(key, source(...chunks), { ...whole, sha256: expected.sha256 }),
      mismatch('digest'),
    );
    const broken = new Readable({ read() {} });
    broken.push(large.subarray(0, 11 * 1024 * 1024));
    const receiving = blobs.receive(key, broken, whole);
    setImmediate(() => broken.destroy(new Error('the client is gone')));
    await assert.rejects(receiving, /the client is gone/);
    assert.deepEqual([await paths(), await remains()], [[], 0]);
  });

  test(`${where}, a blob that differs from its announcement or is cut off leaves nothing behind`, async (t) => {
    const { blobs, paths, remains } = await open(t);
    await assert.rejects(blobs.receive(key, source(bytes), { ...expected, size_bytes: 14 }), mismatch('size'));
    await assert.rejects(blobs.receive(key, source(Buffer.from('one two four!')), expected), mismatch('digest'));

    const tooLong = source(bytes, bytes, bytes);
    await assert.rejects(blobs.receive(key, tooLong, expected), mismatch('size'));
    assert.equal(tooLong.destroyed, false);
    tooLong.destroy();

    const broken = new Readable({ read() {} });
    broken.push(bytes.subarray(0, 3));
    const receiving = blobs.receive(key, broken, expected);
    broken.destroy(new Error('the client is gone'));
    await assert.rejects(receiving, /the client is gone/);

    await (await blobs.receive(key, source(bytes), expected)).discard();
    assert.deepEqual([await paths(), await remains()], [[], 0]);
  });

  test(`${where}, a blob of unannounced size is accepted up to a limit`, async (t) => {
    const { blobs, paths } = await open(t);
    const received = await blobs.receive('images/abcdef', source(bytes), { at_most_bytes: bytes.length });
    assert.deepEqual(
      [received.key, received.size_bytes, received.sha256],
      ['images/abcdef', bytes.length, expected.sha256],
    );
    await received.keep();
    assert.deepEqual(await buffer((await blobs.read('images/abcdef'))!), bytes);
    const tooLong = blobs.receive('images/abcdff', source(bytes), { at_most_bytes: bytes.length - 1 });
    await assert.rejects(tooLong, BlobMismatch);
    assert.deepEqual(await paths(), ['images/ab/cd/abcdef']);
  });

  test(`${where}, all blobs or those of a kind are listed, and one can be set aside`, async (t) => {
    const { blobs, paths } = await open(t);
    const all: BlobKey[] = ['avatars/abcd01', 'lfs/abcd02', 'lfs/abcd03', 'lfs/abce04', 'lfs/b0ce05', 'uploads/abcd06'];
    for (const each of all) await (await blobs.receive(each, source(bytes), expected)).keep();
    assert.deepEqual((await Array.fromAsync(blobs.keys())).sort(), all);
    assert.deepEqual((await Array.fromAsync(blobs.keys('lfs'))).sort(), all.slice(1, 5));
    assert.deepEqual(await Array.fromAsync(blobs.keys('lf')), []);
    const aside = await blobs.setAside('lfs/abcd02');
    const day = new Date().toISOString().slice(0, 10);
    assert.ok(aside.startsWith(blobs.address) && aside.endsWith(`.unowned/${day}/abcd02`), aside);
    assert.deepEqual((await Array.fromAsync(blobs.keys('lfs'))).sort(), all.slice(2, 5));
    assert.ok((await paths()).some((name) => aside.endsWith(name)));
  });

  test(`${where}, what killed receptions have left is swept`, async (t) => {
    const { blobs, remains, leaveRemains } = await open(t);
    assert.equal(await blobs.sweep(0), 0);
    const fresh = await blobs.receive(key, source(bytes), expected);
    await leaveRemains();
    const before = await remains();
    assert.equal(await blobs.sweep(where === 'in a folder' ? 60_000 : -60_000), 1);
    assert.equal(await remains(), before - 1);
    await fresh.keep();
    assert.deepEqual(await buffer((await blobs.read(key))!), bytes);
  });

  test(`${where}, no key leads out of the store`, async (t) => {
    const { blobs } = await open(t);
    for (const wrong of ['lfs/../../etc/passwd', '../abcdef', 'lfs/..ab', '.incoming/abcd', 'lfs/ab'] as const) {
      await assert.rejects(async () => blobs.read(wrong), TypeError);
      await assert.rejects(async () => blobs.receive(wrong, source(bytes), expected), TypeError);
    }
  });
}

test('uploads of others in the same bucket stay, and so do recent ones', async (t) => {
  const { blobs, leaveRemains, remains } = await inBucket(t);
  const before = await remains();
  await leaveRemains();
  assert.equal(await blobs.sweep(60_000), 0);
  assert.equal(await remains(), before + 2);
  assert.equal(await blobs.sweep(-60_000), 1);
});

test('a store that refuses or is away is named without its credentials, and the next call may find it', async (t) => {
  const { s3, folder } = await inBucket(t);
  const fails = async (place: S3Place, pattern: RegExp) =>
    assert.rejects(
      s3Blobs(place, folder).read(key),
      (error) =>
        error instanceof BlobStoreError &&
        pattern.test(error.message) &&
        !/S3RVER|Signature=|wrong secret/.test(inspected(error)),
    );
  await fails({ ...s3, bucket: 'absent' }, /^s3:\/\/absent\/place\/\d+ refused: NoSuchBucket \(404\)$/);
  await fails({ ...s3, endpoint: 'http://127.0.0.1:9' }, /does not answer: ECONNREFUSED$/);
  process.env.AWS_SECRET_ACCESS_KEY = 'wrong secret';
  const refused = s3Blobs(s3, folder);
  await fails(s3, /refused: SignatureDoesNotMatch \(403\)$/);
  await assert.rejects(
    refused.receive(key, source(bytes), expected).then((received) => received.keep()),
    BlobStoreError,
  );
  process.env.AWS_SECRET_ACCESS_KEY = credentials.AWS_SECRET_ACCESS_KEY;
  assert.equal(await s3Blobs(s3, folder).read(key), undefined);
});

const inspected = (error: Error) =>
  JSON.stringify({ ...error, message: error.message, stack: error.stack, cause: error.cause });
