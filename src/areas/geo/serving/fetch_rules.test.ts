/** Where the requests of a fetch end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestsIn } from './fetch_rules.ts';

const listing = '0014command=ls-refs\n00010009peel\n0000';
const fetching = '0011command=fetch00010009done\n0000';

/** The requests in chunks of a size. */
async function requestsOf(text: string, size: number): Promise<string[]> {
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const buffers = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  return (await Array.fromAsync(requestsIn(buffers))).map(String);
}

test('each flush ends a request, wherever the chunks end', async () => {
  for (const size of [1, 3, 7, 1000])
    assert.deepEqual(await requestsOf(`${listing}${fetching}00000011comm`, size), [listing, fetching, '0000']);
});

test('data that is not a fetch, and a fetch that never ends, are refused', async () => {
  await assert.rejects(requestsOf('GET / HTTP/1.1', 5), /cannot be read/);
  await assert.rejects(requestsOf('0003', 5), /cannot be read/);
  await assert.rejects(requestsOf(`0fff${'x'.repeat(4091)}`.repeat(5000), 65_536), /too long/);
});
