import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainReasons, type EmailRules, emailRefusals, expressionReasons } from './email_checks.ts';

const open: EmailRules = {
  domain_allowlist: [],
  domain_denylist_enabled: false,
  domain_denylist: [],
  email_restrictions_enabled: false,
  email_restrictions: null,
};

/** The rule that refuses one address. */
const refusalOf = async (rules: EmailRules, email: string) => (await emailRefusals(rules, [email]))[0];

test('without rules every address may join', async () => {
  assert.equal(await refusalOf(open, 'a@example.com'), undefined);
  assert.equal(
    await refusalOf({ ...open, domain_denylist: ['example.com'], email_restrictions: 'a' }, 'a@example.com'),
    undefined,
  );
});

test('an allowlist refuses all other domains, and exempts its own from the other rules', async () => {
  const rules = {
    ...open,
    domain_allowlist: ['example.com', '*.example.org'],
    domain_denylist_enabled: true,
    domain_denylist: ['example.com'],
    email_restrictions_enabled: true,
    email_restrictions: '.',
  };
  assert.equal(await refusalOf(rules, 'a@EXAMPLE.com'), undefined);
  assert.equal(await refusalOf(rules, 'a@one.two.example.org'), undefined);
  for (const email of [
    'a@example.org',
    'a@sub.example.com',
    'a@exampleXcom',
    'a@example.com.evil.test',
    '"b@example.com"@evil.test',
  ])
    assert.equal(await refusalOf(rules, email), 'allowlist', email);
});

test('denied domains and addresses that match the expression are refused', async () => {
  const rules = {
    ...open,
    domain_denylist_enabled: true,
    domain_denylist: ['evil.test', 'spam-*.test'],
    email_restrictions_enabled: true,
    email_restrictions: '\\+|^robot',
  };
  assert.equal(await refusalOf(rules, 'a@Evil.test'), 'denylist');
  assert.equal(await refusalOf(rules, 'a@spam-1.test'), 'denylist');
  assert.deepEqual(
    await emailRefusals({ ...rules, domain_denylist: ['a*b*a.test'] }, ['x@aba.test', 'x@ab.test', 'x@aXbXa.test']),
    ['denylist', undefined, 'denylist'],
  );
  assert.equal(await refusalOf(rules, 'a+b@example.com'), 'restrictions');
  assert.equal(await refusalOf(rules, 'Robot@example.com'), 'restrictions');
  assert.equal(await refusalOf(rules, 'a@not-evil.test'), undefined);
});

test('invalid domains and expressions are reported', async () => {
  assert.deepEqual(domainReasons(['example.com', '*.example.org', 'münchen.example', 'localhost']), []);
  assert.deepEqual(domainReasons(['a b', 'x', '@example.com']), ["can't include: a b, @example.com"]);
  assert.deepEqual(await expressionReasons('a|b'), []);
  assert.deepEqual(await expressionReasons('(?=a)'), ['is not a valid regular expression']);
  assert.deepEqual(await expressionReasons('('), ['is not a valid regular expression']);
});

test('an address is refused while the expression is one that cannot be matched any more', async () => {
  const rules = { ...open, email_restrictions_enabled: true, email_restrictions: '.{1000}'.repeat(50) };
  assert.deepEqual(await emailRefusals(rules, ['a@example.com']), ['restrictions']);
});
