import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { diskBlobs } from '../blobs/index.ts';
import { ApiError } from './errors.ts';
import { readWithFiles } from './upload.ts';

const headers = { 'content-type': 'multipart/form-data; boundary=B' };
const part = (name: string, content: string, filename?: string) =>
  `--B\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n${content}\r\n`;

async function place(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-upload-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const blobs = diskBlobs(folder);
  const files = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
  const read = (payload: Readable, at_most_bytes = 10) =>
    readWithFiles(headers, payload, { files: [{ name: 'file', kind: 'images', at_most_bytes }], blobs });
  return { blobs, files, read };
}

const refusedWith = (status: number) => (error: unknown) => error instanceof ApiError && error.status === status;

test('a file between fields is received, and stored when it is kept', async (t) => {
  const { blobs, files, read } = await place(t);
  const body = `${part('a', '1')}${part('file', '0123456789', '../x/y.png')}${part('file', 'second', 'b')}${part('other', 'more', 'c')}${part('b[c]', '2')}--B--\r\n`;
  const { fields, files: received } = await read(
    Readable.from(
      [...body].map((character) => Buffer.from(character)),
      { objectMode: false },
    ),
  );
  const file = received[0]!;
  assert.deepEqual([fields.a, (fields.b as { c: string }).c, fields.file], ['1', '2', file]);
  assert.deepEqual([file.name, file.size_bytes], ['y.png', 10]);
  await file.keep();
  assert.equal((await buffer((await blobs.read(file.key))!)).toString(), '0123456789');
  assert.equal(await files(), 1);
});

test('long names are shortened before their extension, to 255 bytes', async (t) => {
  const { read } = await place(t);
  const nameOf = async (name: string) =>
    (await read(Readable.from([Buffer.from(`${part('file', '', name)}--B--\r\n`)]))).files[0]!.name;
  assert.equal(await nameOf(`${'a'.repeat(300)}.png`), `${'a'.repeat(251)}.png`);
  assert.equal(await nameOf(`${'é'.repeat(300)}.png`), `${'é'.repeat(125)}.png`);
  assert.equal(await nameOf(`a.${'b'.repeat(300)}`), 'b'.repeat(63));
  assert.equal(await nameOf('shots/'), 'unnamed');
});

test('a file that is too large, an invalid body and an aborted one store nothing', async (t) => {
  const { files, read } = await place(t);
  const large = `${part('file', '01234567890', 'x')}--B--\r\n`;
  await assert.rejects(read(Readable.from([Buffer.from(large)])), refusedWith(413));
  await assert.rejects(read(Readable.from([Buffer.from(part('file', '0', 'x'))])), refusedWith(400));
  const announced = { ...headers, 'content-length': String(2 ** 40) };
  const options = { files: [{ name: 'file', kind: 'images', at_most_bytes: 10 }], blobs: diskBlobs('/nowhere') };
  await assert.rejects(readWithFiles(announced, new PassThrough(), options), refusedWith(413));

  const broken = new PassThrough();
  broken.write(part('file', '0', 'x').slice(0, -2));
  const reading = read(broken);
  broken.destroy();
  await assert.rejects(reading, refusedWith(400));
  assert.equal(await files(), 0);
});
