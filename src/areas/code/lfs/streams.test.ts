/** A large file passes through the server, which does not hold it. */
// Runs in a process of its own: it measures memory.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { basic, batch, put } from '../../../../test/support/lfs.ts';
import { world } from '../../../../test/support/world.ts';

const mebibyte = 1024 * 1024;
const mebibytes = 100;
const allowed_bytes = (mebibytes / 2) * mebibyte;

/** The same piece over and over, so that the client in this process has nothing to hold. */
const piece = Buffer.alloc(mebibyte, 'one two three ');

function* content(look: () => void): Generator<Buffer> {
  for (let number = 0; number < mebibytes; number++) {
    if (number % 10 === 0) look();
    yield piece;
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * What this process, in which the server and its client run, held at most when it was looked at, more than at the beginning. Garbage is no part of it, nor
 * what the allocator keeps for itself.
 */
function growthMeter() {
  const held_bytes = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held_bytes();
  let highest = before;
  const look = () => {
    highest = Math.max(highest, held_bytes());
  };
  return { look, grown: () => highest - before };
}

test('uploading and downloading 100 MiB grows the server by less than half of it', async () => {
  const here = await world();
  const hash = createHash('sha256');
  for (const part of content(() => {})) hash.update(part);
  const object = { oid: hash.digest('hex'), size: mebibytes * mebibyte };
  const { href, header } = (await batch(here, 'developer', 'upload', [object])).body.objects[0].actions.upload;

  const up = growthMeter();
  assert.equal((await put(here, href, header.Authorization, ReadableStream.from(content(up.look)))).status, 200);
  assert.ok(up.grown() < allowed_bytes, `The upload took ${Math.round(up.grown() / mebibyte)} MiB.`);

  const down = growthMeter();
  const response = await fetch(`${here.url}/${here.project.full_path}.git/gitlab-lfs/objects/${object.oid}`, {
    headers: basic(here.people.reporter.token),
  });
  const received = createHash('sha256');
  let size_bytes = 0;
  for await (const chunk of response.body!) {
    if (Math.floor(size_bytes / (10 * mebibyte)) < Math.floor((size_bytes + chunk.length) / (10 * mebibyte)))
      down.look();
    size_bytes += chunk.length;
    received.update(chunk);
  }
  assert.equal(received.digest('hex'), object.oid);
  assert.ok(down.grown() < allowed_bytes, `The download took ${Math.round(down.grown() / mebibyte)} MiB.`);
});
