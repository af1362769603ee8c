import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { commitTo, put, temporaryRepository } from '../../test/support/bare_repository.ts';
import { GitError, streamArchive } from './index.ts';

const run = promisify(execFile);

/** The names in a tar archive. */
async function namesIn(tar: Buffer): Promise<string[]> {
  const listing = run('tar', ['-tf', '-'], { encoding: 'utf8' });
  listing.child.stdin?.end(tar);
  return (await listing).stdout.trim().split('\n');
}

test('an archive contains the files of a commit below one folder, or those of one path', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, {
    changes: [put('a', '1'), put('d/x', '2'), put('-o', '3'), put('*', '4')],
  });
  const of = async (path?: string) =>
    namesIn(await buffer(streamArchive(repository, commit, { format: 'tar', folder: 'p-1', path })));
  assert.deepEqual(await of(), ['p-1/', 'p-1/*', 'p-1/-o', 'p-1/a', 'p-1/d/', 'p-1/d/x']);
  assert.deepEqual(await of('d'), ['p-1/', 'p-1/d/', 'p-1/d/x']);
  assert.deepEqual(await of('*'), ['p-1/', 'p-1/*']);
  assert.deepEqual(await of('-o'), ['p-1/', 'p-1/-o']);
  await assert.rejects(of('absent'), GitError);
  const start = async (format: 'tar.gz' | 'zip') =>
    (await buffer(streamArchive(repository, commit, { format, folder: 'p' }))).toString('latin1', 0, 2);
  assert.deepEqual([await start('tar.gz'), await start('zip')], ['\x1f\x8b', 'PK']);
});

test('an archive whose reader has gone is stopped', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, { changes: [put('a', Buffer.alloc(8_000_000, 'x'))] });
  const stream = streamArchive(repository, commit, { format: 'tar', folder: 'p' });
  await once(stream, 'readable');
  stream.destroy();
  await once(stream, 'close');
  assert.equal(stream.readableEnded, false);
});
