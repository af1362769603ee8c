import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listText } from './streamed_list.ts';

async function* numbers(most: number, taken: number[] = []): AsyncGenerator<number> {
  try {
    for (let number = 0; number < most; number++) {
      taken.push(number);
      yield number;
    }
  } finally {
    taken.push(-1);
  }
}

const textOf = async (chunks: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(chunks)).toString();

test('items become a list, whether they are written at once or in pieces', async () => {
  const whole = (item: unknown) => JSON.stringify(item);
  assert.equal(await textOf(listText(numbers(0), whole)), '[]');
  assert.equal(await textOf(listText(numbers(3), whole)), '[0,1,2]');
  const pieces = async (item: unknown) => [Buffer.from('"é'), Buffer.from(`${item}"`)];
  assert.deepEqual(JSON.parse(await textOf(listText(numbers(3), pieces))), ['é0', 'é1', 'é2']);
  const mixed = (item: unknown) => (item === 1 ? pieces(item) : whole(item));
  assert.deepEqual(JSON.parse(await textOf(listText(numbers(3), mixed))), [0, 'é1', 2]);
});

test('items are taken while the list is read, and no more when it is not read to its end', async () => {
  const taken: number[] = [];
  const large = 'x'.repeat(100_000);
  for await (const _chunk of listText(numbers(1000, taken), () => JSON.stringify(large))) break;
  assert.deepEqual(taken, [0, -1]);
});
