/** A large repository passes through the server, which does not hold it. */
// Runs in a process of its own: it measures memory.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { world } from '../support/world.ts';
import { begin, clone, remoteFor, type WorkTree } from './work_tree.ts';

const mebibyte = 1024 * 1024;
const files = 15;
const fileSize_mebibytes = 4;
const size_bytes = files * fileSize_mebibytes * mebibyte;
/** A server that held the pack would need all of its size, and more while it grows. */
const allowed_bytes = size_bytes / 2;

/**
 * Commits incompressible data, one file per commit: enough objects for git to keep the pack as received.
 * Another program writes them, so that this process has no free memory of that size left over.
 */
async function addNoise({ folder, git }: WorkTree): Promise<string> {
  for (let count = 0; count < files; count++) {
    const output = path.join(folder, `noise-${count}`);
    await promisify(execFile)('dd', ['if=/dev/urandom', `of=${output}`, 'bs=1048576', `count=${fileSize_mebibytes}`]);
    await git('add', '.');
    await git('commit', '-q', '-m', `Add noise ${count}`);
  }
  return git('rev-parse', 'HEAD');
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What this process, in which the server runs, holds in memory. Garbage is no part of it: streams leave up to 64 MiB of that before it is collected. */
function held_bytes(): number {
  collectGarbage();
  return process.memoryUsage.rss();
}

/** By how much the held memory grew at most while something went on. */
async function growth(during: Promise<unknown>): Promise<number> {
  const before = held_bytes();
  let highest = before;
  const look = setInterval(() => {
    highest = Math.max(highest, held_bytes());
  }, 300);
  await during.finally(() => clearInterval(look));
  return highest - before;
}

test('pushing and cloning 60 MiB grows the server by less than half of it', async () => {
  const here = await world();
  const work = await begin(remoteFor(here, 'owner'), 'main');
  // The client's own work on such data, which takes it longer than everything else.
  await work.git('config', 'core.compression', '0');
  await work.git('config', 'pack.window', '0');
  await work.commit('README.md', 'one\n');
  await work.git('push', '-q', 'origin', 'main');
  await clone(remoteFor(here, 'reporter'));
  const head = await addNoise(work);

  const pushed_bytes = await growth(work.git('push', '-q', 'origin', 'main'));
  assert.ok(
    pushed_bytes < allowed_bytes,
    `The push made the server grow by ${Math.round(pushed_bytes / mebibyte)} MiB.`,
  );
  const cloning = clone(remoteFor(here, 'reporter'), '--bare');
  const cloned_bytes = await growth(cloning);
  assert.ok(
    cloned_bytes < allowed_bytes,
    `The clone made the server grow by ${Math.round(cloned_bytes / mebibyte)} MiB.`,
  );
  const copy = await cloning;
  assert.equal(await copy.git('rev-parse', 'main'), head);
  await copy.git('fsck', '--strict');
});
