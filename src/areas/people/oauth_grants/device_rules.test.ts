import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUserCode, shownCode, userCodeIn } from './device_rules.ts';

test('a code is entered in any case, and with or without its dash', () => {
  const code = newUserCode();
  assert.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
  assert.match(shownCode(code), /^[A-Z]{4}-[A-Z]{4}$/);
  for (const text of [code, shownCode(code), shownCode(code).toLowerCase(), ` ${code.slice(0, 4)} ${code.slice(4)} `])
    assert.equal(userCodeIn(text), code, text);
  for (const text of ['', 'BCDFGHJ', 'BCDFGHJKL', 'ABCDEFGH', 'BCDFGHJ\0', 'BCDF_GHJK', 'ｂCDFGHJK'])
    assert.equal(userCodeIn(text), undefined, text);
});
