import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expensive } from '../../test/support/expressions.ts';
import { checkExpression, InvalidExpression, MatchingTimeout, matchEach } from './index.ts';

const second_ms = 1_000;

test('an expression matches anywhere in a text, in the order of the texts', async () => {
  assert.deepEqual(await matchEach({ source: 'b+$' }, ['abb', 'bba', '', 'b'], second_ms), [true, false, false, true]);
  assert.deepEqual(await matchEach({ source: '^$' }, ['', 'a'], second_ms), [true, false]);
  assert.deepEqual(await matchEach({ source: 'x' }, [], second_ms), []);
});

test('case and lines count unless the expression is told otherwise', async () => {
  assert.deepEqual(await matchEach({ source: '^two$' }, ['one\ntwo', 'TWO', 'two'], second_ms), [false, false, true]);
  assert.deepEqual(await matchEach({ source: '^two$', multiline: true }, ['one\ntwo', 'TWO'], second_ms), [
    true,
    false,
  ]);
  assert.deepEqual(await matchEach({ source: '(?-m)^two$', multiline: true }, ['one\ntwo', 'two'], second_ms), [
    false,
    true,
  ]);
  assert.deepEqual(await matchEach({ source: '^two$', ignores_case: true }, ['TWO'], second_ms), [true]);
});

test('many texts and long ones are answered completely', async () => {
  const texts = Array.from({ length: 12_000 }, (_, index) => (index % 3 === 0 ? `JIRA-${index}` : `text ${index}`));
  assert.deepEqual(
    await matchEach({ source: '^JIRA-[0-9]+$' }, texts, 10 * second_ms),
    texts.map((_, index) => index % 3 === 0),
  );
  const long = ['a'.repeat(1_048_576), `${'a'.repeat(1_048_576)}b`];
  assert.deepEqual(await matchEach({ source: 'b$' }, long, 10 * second_ms), [false, true]);
});

test('what is not RE2 syntax is refused with the reason', async () => {
  for (const [source, reason] of [
    ['(', 'missing closing ): `(`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
  ] as const) {
    await assert.rejects(checkExpression({ source }), new InvalidExpression(reason));
    await assert.rejects(matchEach({ source }, ['a'], second_ms), InvalidExpression);
  }
  await assert.rejects(
    checkExpression({ source: '(', multiline: true, ignores_case: true }),
    new InvalidExpression('missing closing ): `(`'),
  );
  await checkExpression({ source: '(a+)+$' });
});

test('an expression with too many instructions is refused', async () => {
  await assert.rejects(checkExpression({ source: '(.{1000}){2}' }), InvalidExpression);
  await assert.rejects(
    checkExpression({ source: '(?:.{1000})'.repeat(150) }),
    new InvalidExpression('expression too large'),
  );
});

test('a call that takes longer than its budget fails, and the others are answered', async () => {
  // None of these states are alike, so that the automaton has to be computed for every character.
  const slow = { source: '(a|b)*a(a|b){300}[cd]' };
  const text = Array.from({ length: 1_048_576 }, (_, index) => (((index * 2_654_435_761) >>> 13) % 2 ? 'a' : 'b')).join(
    '',
  );
  const [late, quick] = await Promise.allSettled([
    matchEach(slow, [text, text, text], 20),
    matchEach({ source: 'x' }, ['x', 'y'], second_ms),
  ]);
  assert.ok(late.status === 'rejected' && late.reason instanceof MatchingTimeout);
  assert.deepEqual(quick, { status: 'fulfilled', value: [true, false] });
});

test('the event loop goes on while thirty expensive expressions are matched on a megabyte each', async (t) => {
  const text = `${'ab'.repeat(524_288)}!`;
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  t.after(() => clearInterval(timer));
  for (const source of expensive) {
    const [result] = await Promise.allSettled([matchEach({ source }, [text], 200)]);
    // Each was answered or given up.
    if (result.status === 'rejected') assert.ok(result.reason instanceof MatchingTimeout, source);
  }
  assert.ok(turns > 0);
  assert.deepEqual(await matchEach({ source: 'a' }, ['a', 'b'], second_ms), [true, false]);
});
