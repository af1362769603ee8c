import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileSystemProblems, fileSystemTimes } from './check_file_system.ts';

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-file-system-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('a file system of this machine does what is relied on, and nothing stays behind', async (t) => {
  const folder = await folderFor(t);
  assert.deepEqual(await fileSystemProblems({ folder, times: 20 }), []);
  assert.deepEqual(await fileSystemProblems({ folder, elsewhere: folder, times: 20 }), []);
  assert.deepEqual(
    [...(await fileSystemTimes({ folder, times: 3 })).keys()],
    ['write', 'fsync', 'stat', 'open and read', 'rename'],
  );
  assert.deepEqual(await readdir(folder), []);
});

test('a folder that is not the same one is told by what does not arrive there', async (t) => {
  const [folder, elsewhere] = [await folderFor(t), await folderFor(t)];
  const problems = await fileSystemProblems({ folder, elsewhere, times: 3 });
  assert.equal(problems.length, 2, problems.join('\n'));
  assert.match(problems[0]!, /^A file that was replaced still had its old content, 3 of 3 times between /);
  assert.match(problems[1]!, /^A new file was not there, 3 of 3 times/);
});
