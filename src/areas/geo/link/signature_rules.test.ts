import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcedDigest,
  announcementOf,
  digestOf,
  isSignedWith,
  readSignature,
  secondsAhead,
  sign,
} from './signature_rules.ts';

const key = Buffer.alloc(32, 1);
const request = { method: 'POST', path: '/api/v4/geo/status?full=true', digest: digestOf('{}') };
const now = new Date('2027-03-01T12:00:00.900Z');

test('a signature is valid only for the request for which it was made', () => {
  const signature = readSignature(sign(key, 'Zürich', request, now))!;
  assert.equal(signature.node, 'Zürich');
  assert.ok(isSignedWith(key, request, signature));
  assert.ok(!isSignedWith(Buffer.alloc(32, 2), request, signature));
  for (const change of [{ method: 'GET' }, { path: '/api/v4/geo/status' }, { digest: digestOf('[]') }])
    assert.ok(!isSignedWith(key, { ...request, ...change }, signature), JSON.stringify(change));
  for (const change of [{ seconds: signature.seconds + 1 }, { nonce: '0'.repeat(32) }])
    assert.ok(!isSignedWith(key, request, { ...signature, ...change }), JSON.stringify(change));
});

test('no two signatures are equal', () => {
  assert.notEqual(sign(key, 'Lisbon', request, now), sign(key, 'Lisbon', request, now));
});

test('a signature shows how far the clock of its site is ahead', () => {
  const signature = readSignature(sign(key, 'Lisbon', request, now))!;
  assert.equal(secondsAhead(signature, new Date('2027-03-01T12:00:00.000Z')), 0);
  assert.equal(secondsAhead(signature, new Date('2027-03-01T11:58:59.000Z')), 61);
  assert.equal(secondsAhead(signature, new Date('2027-03-01T12:01:01.000Z')), -61);
});

test('a header of any other form is not a signature', () => {
  const good = sign(key, 'Lisbon', request, now);
  const zeros = (count: number) => '0'.repeat(count);
  for (const wrong of [
    undefined,
    '',
    'Bearer abc',
    good.slice(0, -1),
    `${good}0`,
    good.replace('Geo ', ''),
    good.toUpperCase(),
    `Geo ${Buffer.from('a\0b').toString('base64url')}.1.${zeros(32)}.${zeros(64)}`,
    `Geo ${'a'.repeat(1361)}.1.${zeros(32)}.${zeros(64)}`,
  ])
    assert.equal(readSignature(wrong), undefined, wrong);
});

test('the digest of a body travels in its header', () => {
  assert.equal(announcedDigest(announcementOf(request.digest)), request.digest);
  assert.equal(announcedDigest(undefined), digestOf(''));
  assert.equal(announcedDigest('md5=:AAAA:'), undefined);
});
