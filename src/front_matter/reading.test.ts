import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frontMatterOf, maximumFrontMatter_bytes } from './index.ts';

const read = async (text: string) => {
  const { json, end } = await frontMatterOf(text, 1);
  return [JSON.parse(json) as unknown, text.slice(end)];
};

test('an object between lines of three dashes at the beginning is front matter', async () => {
  const text = '---\ntitle: Apples\ntags: [red, green]\nsince: 2020-01-01\n---\n# Apples\n';
  assert.deepEqual(await read(text), [{ title: 'Apples', tags: ['red', 'green'], since: '2020-01-01' }, '# Apples\n']);
  assert.deepEqual(await read(text.replaceAll('\n', '\r\n')), [
    { title: 'Apples', tags: ['red', 'green'], since: '2020-01-01' },
    '# Apples\r\n',
  ]);
  assert.deepEqual(await read('---  \na: |\n  x\n  ---\n---'), [{ a: 'x\n---\n' }, '']);
});

test('everything else is text', async () => {
  for (const text of [
    '',
    '---',
    '---\n---\n',
    '---\na: 1\n',
    ' ---\na: 1\n---\n',
    '----\na: 1\n---\n',
    '---\na: 1\n----\n',
    '---\n- a\n---\n',
    '---\na\n---\n',
    '---\na: [\n---\n',
    '---\na: 1\na: 2\n---\n',
    '---\na: &x [1]\nb: *x\n---\n',
    '---\na: &x 1\n---\n',
    '---\na: *x\n---\n',
    '---\n&x a: 1\n---\n',
    '---\na: 1\n--- {b: 2}\n---\n',
    '---\na: !!binary aGk=\n---\n',
    `---\na: ${'['.repeat(101)}${']'.repeat(101)}\n---\n`,
  ])
    assert.deepEqual(await read(text), [{}, text], text);
});

test('front matter has at most 1 MiB', async () => {
  const of = (length: number) => `---\na: ${'é'.repeat(length / 2 - 2)}\n---\n`;
  const [longest] = (await read(of(maximumFrontMatter_bytes))) as [{ a: string }];
  assert.equal(longest.a.length, maximumFrontMatter_bytes / 2 - 2);
  assert.deepEqual(await read(of(maximumFrontMatter_bytes + 2)), [{}, of(maximumFrontMatter_bytes + 2)]);
});

test('long front matter is read elsewhere, and its names are only names', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `key-${index}: ${index}`);
  const [matter] = (await read(`---\n__proto__: x\n${lines.join('\n')}\n---\n`)) as [Record<string, unknown>];
  assert.equal(Object.keys(matter).length, 5_001);
  assert.equal(matter['key-4999'], 4_999);
});
