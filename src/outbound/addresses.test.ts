import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localTargetOf } from './index.ts';

const hostOf = (url: string) => new URL(url).hostname;

test('this machine is recognized in every notation', () => {
  const own = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
  ];
  const names = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'localhost.localdomain',
    '[::ffff:127.0.0.1]',
    '%6cocalhost',
  ];
  for (const host of [...own, ...names]) assert.equal(localTargetOf(hostOf(`http://${host}/`)), 'localhost', host);
});

test('the network around it is recognized, up to its borders', () => {
  const inside = [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
  ];
  const ofSix = [
    '[fc00::1]',
    '[fdff::1]',
    '[fe80::1]',
    '[ff02::1]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:a00:1::1]',
    '[::a00:1]',
    '[::ffff:0:10.0.0.1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[3fff:fff:ffff::1]',
    '[5f00::1]',
  ];
  const names = [
    'kubernetes',
    'cluster.local',
    'metadata.google.internal',
    'printer.home.arpa',
    'cluster.local.',
    '255.255.255.255',
  ];
  for (const host of [...inside, ...ofSix, ...names])
    assert.equal(localTargetOf(hostOf(`http://${host}/`)), 'local network', host);
});

test('other addresses are not recognized as local', () => {
  const outside = [
    '9.255.255.255',
    '11.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '8.8.8.8',
  ];
  const ofSix = [
    '[2606:4700::1111]',
    '[2a00::1]',
    '[::ffff:8.8.8.8]',
    '[2001:db9::1]',
    '[3fff:1000::1]',
    '[5eff::1]',
    '[5f01::1]',
  ];
  const names = [
    'example.com',
    'localhost.example.com',
    'notlocalhost.org',
    'local.example.com',
    'mylocal.net',
    'xn--bcher-kva.example',
  ];
  for (const host of [...outside, ...ofSix, ...names])
    assert.equal(localTargetOf(hostOf(`http://${host}/`)), undefined, host);
});
