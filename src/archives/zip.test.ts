import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type OddFile, zipOf } from '../../test/support/zip.ts';
import {
  InvalidContent,
  isInside,
  LimitExceeded,
  type RandomAccess,
  type ZipEntry,
  zipContent,
  zipEntries,
} from './index.ts';

const most_bytes = 1_000_000;

/** In pieces of 7 bytes. */
const fileOf = (bytes: Buffer): RandomAccess => ({
  size_bytes: bytes.length,
  async *read(start, end) {
    for (let at = start; at < end; at += 7) yield bytes.subarray(at, Math.min(at + 7, end));
  },
});

const entriesIn = (zip: Buffer): Promise<ZipEntry[]> => Array.fromAsync(zipEntries(fileOf(zip)));

async function textIn(zip: Buffer, name: string, limit = most_bytes): Promise<string> {
  const entry = (await entriesIn(zip)).find((each) => each.name === name)!;
  const content = await zipContent(fileOf(zip), entry, { most_bytes: limit });
  return Buffer.concat(await Array.fromAsync(content)).toString();
}

test('the directory lists files, folders and links with their permissions, and each file can be read alone', async () => {
  const zip = zipOf({
    'bin/': { content: '', mode: 0o040755 },
    'bin/run': { content: 'echo ä', mode: 0o100755 },
    'bin/ähnlich': 'more',
    empty: { content: '', method: 0 },
    plain: { content: 'as it is', method: 0 },
    link: { content: '/etc/passwd', mode: 0o120777 },
  });
  assert.deepEqual(
    (await entriesIn(zip)).map(({ name, type, size_bytes, mode }) => [name, type, size_bytes, mode]),
    [
      ['bin/', 'directory', 0, 0o755],
      ['bin/run', 'file', 7, 0o755],
      ['bin/ähnlich', 'file', 4, 0o644],
      ['empty', 'file', 0, 0o644],
      ['plain', 'file', 8, 0o644],
      ['link', 'link', 11, 0o777],
    ],
  );
  assert.equal(await textIn(zip, 'bin/run'), 'echo ä');
  assert.equal(await textIn(zip, 'empty'), '');
  assert.equal(await textIn(zip, 'plain'), 'as it is');
});

test('an archive with numbers of 64 bits, a comment behind it or a program before it is read like another', async () => {
  const files = { a: 'one', b: 'two'.repeat(1000) };
  const commented = Buffer.concat([zipOf(files), Buffer.from('made by hand')]);
  commented.writeUInt16LE(12, commented.length - 14);
  const variants = [zipOf(files, true), commented, Buffer.concat([Buffer.from('#!/bin/sh\n'), zipOf(files)])];
  for (const zip of variants) {
    assert.deepEqual(
      (await entriesIn(zip)).map(({ name }) => name),
      ['a', 'b'],
    );
    assert.equal(await textIn(zip, 'b'), files.b);
  }
  assert.deepEqual(await entriesIn(zipOf({})), []);
});

test('links, folders, encrypted files and unknown methods have no content', async () => {
  const zip = zipOf({
    'folder/': { content: '' },
    link: { content: 'a', mode: 0o120777 },
    secret: { content: 'a', is_encrypted: true },
    odd: { content: 'a', method: 12 },
  });
  for (const { name } of await entriesIn(zip)) await assert.rejects(textIn(zip, name), InvalidContent, name);
});

test('a file that unpacks to more than allowed, or to another size than its entry says, is not given', async () => {
  const bomb: OddFile = { content: Buffer.alloc(5_000_000) };
  await assert.rejects(textIn(zipOf({ bomb }), 'bomb'), LimitExceeded);
  await assert.rejects(textIn(zipOf({ bomb: { ...bomb, said_bytes: 10 } }), 'bomb'), InvalidContent);
  await assert.rejects(textIn(zipOf({ short: { content: 'abc', said_bytes: 10 } }), 'short'), InvalidContent);
});

test('a file that is no zip, broken off or changed is refused', async () => {
  const whole = zipOf({ a: 'one', b: 'two' });
  for (const bytes of [Buffer.alloc(0), Buffer.from('no zip at all'), whole.subarray(0, -1), whole.subarray(20)])
    await assert.rejects(entriesIn(bytes), InvalidContent);
  const count = Buffer.from(whole);
  count.writeUInt16LE(3, count.length - 12);
  await assert.rejects(entriesIn(count), InvalidContent);
});

test('whatever bytes are changed, the archive is read or refused', async () => {
  const whole = zipOf({ 'a/b': 'one'.repeat(100), link: { content: 'x', mode: 0o120777 } });
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), fc.boolean(), async (changes, isLarge) => {
      const bytes = isLarge ? zipOf({ 'a/b': 'one'.repeat(100), c: '' }, true) : Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      try {
        for (const { name } of await entriesIn(bytes)) await textIn(bytes, name);
      } catch (error) {
        assert.ok(error instanceof InvalidContent || error instanceof LimitExceeded, String(error));
      }
    }),
    { numRuns: 500 },
  );
});

test('names that leave the folder are not inside of it', () => {
  for (const name of ['a', 'a/b.txt', 'a/', '...', 'a..b/c']) assert.equal(isInside(name), true, name);
  for (const name of ['', '/', '/etc', '..', '../a', 'a/../b', 'a/..', './a', 'a//b', 'a\\b', 'a\0'])
    assert.equal(isInside(name), false, name);
});
