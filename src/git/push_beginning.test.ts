import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasBegun } from './push_beginning.ts';

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
const [none, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40));
const [change, removal] = [line(`${one} ${two} refs/heads/a\0report-status`), line(`${one} ${none} refs/heads/b`)];

test('a push has begun with the first byte of its pack, or with its last command where it has none', () => {
  const wholly = (text: string) => {
    for (let length = 0; length < text.length; length++)
      assert.equal(hasBegun(Buffer.from(text.slice(0, length))), false, `${length} bytes of ${JSON.stringify(text)}`);
    assert.equal(hasBegun(Buffer.from(text)), true, text);
  };
  wholly(`${change}${removal}0000P`);
  wholly(`${removal}${change}0000P`);
  wholly(`${line(`shallow ${one}\n`)}${removal}0000`);
  wholly('0000');
  wholly('zzzz');
  wholly(`${removal}0002`);
});
