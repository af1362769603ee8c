import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressWith, isRegistered } from './address_rules.ts';

test('an address is compared as it is written, but for the port of the own computer', () => {
  const registered =
    'https://app.example.com/callback\nhttp://127.0.0.1/cb\nhttp://localhost:7171/auth?x=1\nhttp://[::1]:1/\napp:/x';
  for (const address of [
    'https://app.example.com/callback',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:49152/cb',
    'http://localhost:80/auth?x=1',
    'http://localhost/auth?x=1',
    'http://[::1]:65535/',
    'app:/x',
  ])
    assert.ok(isRegistered(registered, address), address);
  for (const address of [
    '',
    'https://app.example.com/callback/',
    'https://app.example.com/callback?x=1',
    'https://app.example.com:443/callback',
    'https://APP.example.com/callback',
    'https://app.example.com/callback/../evil',
    'https://app.example.com.evil.example/callback',
    'http://app.example.com/callback',
    'http://127.0.0.1:49152/other',
    'http://127.0.0.1:x/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:80@evil.example.com/cb',
    'http://localhost.evil.example.com/auth?x=1',
    'http://localhost:7171/auth?x=2',
    'https://localhost:7171/auth?x=1',
    'http://127.0.0.2/cb',
    'app:/y',
    registered,
  ])
    assert.ok(!isRegistered(registered, address), address);
});

test('parameters are added to what an address has', () => {
  const parameters = { code: 'a b&c', state: undefined };
  assert.equal(addressWith('https://app.example.com/cb', parameters).href, 'https://app.example.com/cb?code=a+b%26c');
  assert.equal(addressWith('https://app.example.com/cb?x=1', parameters).search, '?x=1&code=a+b%26c');
  assert.equal(addressWith('com.example.app:/x', parameters).href, 'com.example.app:/x?code=a+b%26c');
});
