import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ArchiveError, createArchive, jsonOf, readArchive } from './archive.ts';

/** The names and contents of an archive, undefined when it is refused as damaged. */
async function contentsOf(file: string): Promise<string[] | undefined> {
  const contents: string[] = [];
  try {
    for await (const { name, content } of readArchive(file)) {
      const hash: Buffer[] = [];
      for await (const chunk of content) hash.push(chunk);
      contents.push(`${name} ${Buffer.concat(hash).toString('base64')}`);
    }
    return contents;
  } catch (error) {
    if (error instanceof ArchiveError) return undefined;
    throw error;
  }
}

test('a changed or missing byte of an archive is noticed, unless it carries no content', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-archive-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'whole');
  const archive = createArchive(file);
  await archive.add('rows.json', JSON.stringify(Array.from({ length: 40 }, (_, index) => `row ${index * 7919}`)));
  await archive.add('blob', randomBytes(100));
  await archive.finish();
  const whole = await readFile(file);
  const right = await contentsOf(file);
  assert.deepEqual(right?.length, 2);

  const damaged = path.join(folder, 'damaged');
  let harmless = 0;
  const holds = async (bytes: Buffer, what: string) => {
    await writeFile(damaged, bytes);
    const contents = await contentsOf(damaged);
    if (contents === undefined) return;
    assert.deepEqual(contents, right, what);
    harmless += 1;
  };
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 0xff;
    await holds(changed, `byte ${at} changed`);
    await holds(whole.subarray(0, at), `cut at byte ${at}`);
  }
  assert.ok(harmless < 40, `${harmless} of ${2 * whole.length} damages were not noticed`);
});

test('damage inside a large entry is noticed by its reader', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-archive-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'whole');
  const archive = createArchive(file);
  for (const name of ['first', 'second']) await archive.add(name, randomBytes(2_000_000));
  await archive.finish();
  const whole = await readFile(file);
  const damaged = path.join(folder, 'damaged');
  for (let part = 1; part < 20; part++) {
    const at = Math.floor((whole.length * part) / 20);
    const changed = Buffer.from(whole);
    changed[at]! ^= 0xff;
    for (const bytes of [changed, whole.subarray(0, at)]) {
      await writeFile(damaged, bytes);
      assert.equal(await contentsOf(damaged), undefined, `at byte ${at} of ${whole.length}`);
    }
  }
});

test('an entry that is no JSON is named as damaged', async () => {
  const content = async function* () {
    yield Buffer.from('{"half":');
  };
  await assert.rejects(
    jsonOf(content(), 'database/tables.json'),
    new ArchiveError('The backup is damaged in database/tables.json.'),
  );
});
