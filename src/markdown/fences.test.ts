import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fencedBlocks } from './index.ts';

test('fenced blocks end with a fence or with what contains them, and lose its marks and the indentation of their fence', async () => {
  const text = [
    '```a\none\n\n  two\n```',
    '- item\n  ~~~~ b \n  three\n  ~~~\n  ~~~~',
    '> ```c\n> four',
    '  ```d\n   five\n six\n',
  ].join('\n\n');
  assert.deepEqual(await fencedBlocks(text, () => true, 9), [
    { info: 'a', text: 'one\n\n  two\n' },
    { info: 'b', text: 'three\n~~~\n' },
    { info: 'c', text: 'four\n' },
    { info: 'd', text: ' five\nsix\n\n' },
  ]);
  assert.deepEqual(
    (await fencedBlocks(text, (info) => info > 'a', 2)).map(({ info }) => info),
    ['b', 'c'],
  );
  assert.deepEqual(await fencedBlocks('``` a`b\nx', () => true, 9), []);
});
