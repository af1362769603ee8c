import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { readState, stateIn } from './index.ts';

const of = (text: string, digest?: string) => readState({ content: Buffer.from(text), digest });

test('a state is an object with a serial that is a whole number', () => {
  assert.deepEqual(
    ['{"serial":0}', `{"serial":${Number.MAX_SAFE_INTEGER}}`].map((text) => of(text).serial),
    [0, Number.MAX_SAFE_INTEGER],
  );
  for (const text of [
    ...['', 'x', 'null', '[1]', '{}', '{"serial":"1"}', '{"serial":-1}', '{"serial":1.5}', '{"serial":1e20}'],
  ])
    assert.equal(of(text).serial, undefined, text);
});

test('a digest fits its bytes alone', () => {
  assert.ok(of('a').fits);
  assert.ok(of('a', 'DMF1ucDxtqgxw5niaXcmYQ==').fits);
  assert.ok(!of('b', 'DMF1ucDxtqgxw5niaXcmYQ==').fits);
});

test('a long state is read in a thread as a short one is', async () => {
  const text = JSON.stringify({ serial: 7, resources: 'x'.repeat(200_000) });
  const content = Buffer.from(text);
  assert.deepEqual(await stateIn({ content, digest: hash('md5', content, 'base64') }, 1), { serial: 7, fits: true });
  assert.deepEqual(await stateIn({ content, digest: 'other' }, 1), { serial: 7, fits: false });
  assert.equal(content.toString(), text);
});
