/** Codes and challenges, which are functions of their input and the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsFrom } from '../../../secrets/index.ts';
import { authenticatorLink, inGroups, newRecoveryCodes, newSecret, recoveryCodeIn, stepOfCode } from './rules.ts';
import { isOwnChallenge, keyHostOf, newChallenge } from './webauthn_rules.ts';

/** The secret of the examples in RFC 6238, appendix B, whose codes have two digits more. */
const example = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test('codes are those of RFC 6238, one step early or late', () => {
  for (const [time_s, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ] as const) {
    const step = Math.floor(time_s / 30);
    const at = (late_s: number) => stepOfCode(example, code, (time_s + late_s) * 1000);
    assert.deepEqual([at(0), at(30), at(-30), at(60), at(-60)], [step, step, step, undefined, undefined], code);
  }
  assert.equal(stepOfCode(example, ' 287 082 ', 59_000), 1);
  for (const text of ['', '28708', '2870820', '28708a', '٢٨٧٠٨٢', '-87082', '287082\0'])
    assert.equal(stepOfCode(example, text, 59_000), undefined, text);
});

test('a secret has 160 bits, and a link that authenticators read', () => {
  const secret = newSecret();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.equal(inGroups(secret).split(' ').length, 8);
  const link = new URL(authenticatorLink(secret, 'ada', 'https://git.example.org:8443/forge'));
  assert.equal(link.protocol, 'otpauth:');
  assert.equal(link.searchParams.get('secret'), secret);
  assert.equal(link.searchParams.get('issuer'), 'git.example.org:8443');
  assert.match(decodeURIComponent(link.pathname), /git\.example\.org:8443:ada$/);
});

test('recovery codes differ, and are found however they were typed', () => {
  const codes = newRecoveryCodes();
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) {
    assert.match(code, /^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/);
    assert.equal(recoveryCodeIn(` ${code.toUpperCase().replaceAll('-', ' ')} `), code);
  }
  for (const text of ['', 'abcd', '0000-0000-0000-0000', 'a'.repeat(17), 'ab\0d-abcd-abcd-abcd'])
    assert.equal(recoveryCodeIn(text), undefined, text);
});

test('a challenge is recognised for five minutes, for its browser and purpose, by the server that gave it', () => {
  const secrets = secretsFrom('x'.repeat(44));
  const given = { browser: 'one', purpose: 'passkey' } as const;
  const now = 1_800_000_000_000;
  const challenge = newChallenge(secrets, given, now);
  const is = (change: Partial<Parameters<typeof isOwnChallenge>[2]> = {}, late_ms = 0) =>
    isOwnChallenge(secrets, challenge, { ...given, ...change }, now + late_ms);
  assert.deepEqual([is(), is({}, 299_999), is({}, 300_000), is({}, -1)], [true, true, false, false]);
  assert.deepEqual([is({ browser: 'two' }), is({ purpose: 'registration' })], [false, false]);
  assert.ok(!isOwnChallenge(secretsFrom('y'.repeat(44)), challenge, given, now));
  for (let at = 0; at < challenge.length; at++) {
    const changed = Buffer.from(challenge);
    changed[at]! ^= 1;
    assert.ok(!isOwnChallenge(secrets, changed, given, now), String(at));
  }
  assert.ok(!isOwnChallenge(secrets, challenge.subarray(0, 20), given, now));
});

test('keys belong to a host name with HTTPS, or to localhost', () => {
  for (const [url, host] of [
    ['https://git.example.org/forge', 'git.example.org'],
    ['http://localhost:3000', 'localhost'],
    ['http://git.example.org', undefined],
    ['https://192.0.2.1', undefined],
    ['https://[2001:db8::1]', undefined],
  ])
    assert.equal(keyHostOf(url!), host, url);
});
