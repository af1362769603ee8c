import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainReasons, type EmailRules, emailCheck, expressionReasons } from './email_rules.ts';

const open: EmailRules = {
  domain_allowlist: [],
  domain_denylist_enabled: false,
  domain_denylist: [],
  email_restrictions_enabled: false,
  email_restrictions: null,
};

test('without rules every address may join', () => {
  assert.equal(emailCheck(open)('a@example.com'), undefined);
  assert.equal(emailCheck({ ...open, domain_denylist: ['example.com'], email_restrictions: 'a' })('a@example.com'), undefined);
});

test('an allowlist refuses all other domains, and exempts its own from the other rules', () => {
  const check = emailCheck({
    ...open,
    domain_allowlist: ['example.com', '*.example.org'],
    domain_denylist_enabled: true,
    domain_denylist: ['example.com'],
    email_restrictions_enabled: true,
    email_restrictions: '.',
  });
  assert.equal(check('a@EXAMPLE.com'), undefined);
  assert.equal(check('a@one.two.example.org'), undefined);
  for (const email of [
    'a@example.org',
    'a@sub.example.com',
    'a@exampleXcom',
    'a@example.com.evil.test',
    '"b@example.com"@evil.test',
  ])
    assert.equal(check(email), 'allowlist', email);
});

test('denied domains and addresses that match the expression are refused', () => {
  const check = emailCheck({
    ...open,
    domain_denylist_enabled: true,
    domain_denylist: ['evil.test', 'spam-*.test'],
    email_restrictions_enabled: true,
    email_restrictions: '\\+|^robot',
  });
  assert.equal(check('a@Evil.test'), 'denylist');
  assert.equal(check('a@spam-1.test'), 'denylist');
  assert.equal(check('a+b@example.com'), 'restrictions');
  assert.equal(check('Robot@example.com'), 'restrictions');
  assert.equal(check('a@not-evil.test'), undefined);
});

test('invalid domains and expressions are reported', () => {
  assert.deepEqual(domainReasons(['example.com', '*.example.org', 'münchen.example', 'localhost']), []);
  assert.deepEqual(domainReasons(['a b', 'x', '@example.com']), ["can't include: a b, @example.com"]);
  assert.deepEqual(expressionReasons('a|b'), []);
  assert.deepEqual(expressionReasons(null), []);
  assert.deepEqual(expressionReasons('(?=a)'), ['is not a valid regular expression']);
  assert.deepEqual(expressionReasons('('), ['is not a valid regular expression']);
});
