import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitTo, put, temporaryFolder, temporaryRepository } from '../../test/support/bare_repository.ts';
import { duplicate, fsck, git, headBranch, refsChecksum, setHead, setKeptRefs } from './index.ts';

const xorOf = (lines: readonly string[]) =>
  lines
    .map((line) => createHash('sha1').update(line).digest())
    .reduce((sum, digest) => Buffer.from(sum.map((byte, at) => byte ^ digest[at]!)))
    .toString('hex');

test('the checksum covers every ref and HEAD, and is that of zeros without refs', async (t) => {
  const repository = await temporaryRepository(t);
  assert.equal(await refsChecksum(repository), '0'.repeat(40));
  const id = await commitTo(repository, { changes: [put('a.txt', 'a')] });
  const kept = 'refs/keep-around/a';
  await setKeptRefs(repository, new Map([[kept, id]]));
  assert.equal(
    await refsChecksum(repository),
    xorOf([`${id} ${kept}`, `${id} refs/heads/main`, 'ref: refs/heads/main HEAD']),
  );
  await setHead(repository, 'side');
  assert.equal(
    await refsChecksum(repository),
    xorOf([`${id} ${kept}`, `${id} refs/heads/main`, 'ref: refs/heads/side HEAD']),
  );
});

for (const objectFormat of ['sha1', 'sha256'] as const)
  test(`a duplicate of a ${objectFormat} repository has all refs and HEAD, and follows its source when it is made again`, async (t) => {
    const source = await temporaryRepository(t, objectFormat);
    const copy = { path: join(await temporaryFolder(t), 'copy.git') };
    const first = await commitTo(source, { changes: [put('a.txt', 'a')] });
    await setKeptRefs(source, new Map([['refs/keep-around/a', first]]));
    await git(source, 'repack', ['-a', '-d', '--quiet']);
    const { signal } = new AbortController();
    await duplicate(source, copy, signal);
    assert.equal(await refsChecksum(copy), await refsChecksum(source));
    await commitTo(source, { parent: first, changes: [put('b.txt', 'b')] });
    await setHead(source, 'side');
    await setKeptRefs(source, new Map([['refs/keep-around/a', null]]));
    assert.notEqual(await refsChecksum(copy), await refsChecksum(source));
    await duplicate(source, copy, signal);
    assert.equal(await refsChecksum(copy), await refsChecksum(source));
    assert.equal(await headBranch(copy), 'side');
    assert.deepEqual(await fsck(copy), []);
  });
