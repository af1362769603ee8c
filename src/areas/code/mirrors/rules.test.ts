import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressIn, hostKeyIn, keptError, maskedUrl } from './rules.ts';

test('addresses of mirrors are split into a public and a secret part', () => {
  const shown = (text: string) => {
    const address = addressIn(text, false);
    return typeof address === 'string' ? address : [address.url, address.login, maskedUrl(address)];
  };
  assert.deepEqual(shown('https://ada:pass%2Fword@host.example:8443/a/b.git'), [
    'https://host.example:8443/a/b.git',
    { username: 'ada', password: 'pass/word' },
    'https://*****:*****@host.example:8443/a/b.git',
  ]);
  assert.deepEqual(shown('https://host.example/a'), ['https://host.example/a', {}, 'https://host.example/a']);
  assert.deepEqual(shown('ssh://git@host.example:2222/a/b.git'), [
    'ssh://git@host.example:2222/a/b.git',
    { username: 'git' },
    'ssh://git@host.example:2222/a/b.git',
  ]);
  assert.deepEqual(shown('ssh://ada:secret@host.example/a'), [
    'ssh://ada@host.example/a',
    { username: 'ada', password: 'secret' },
    'ssh://ada:*****@host.example/a',
  ]);
  assert.deepEqual(shown('git://host.example/a'), ['git://host.example/a', {}, 'git://host.example/a']);
});

const scheme = 'is blocked: Only allowed schemes are http, https, ssh, git';
const uri = 'is blocked: URI is invalid';
const username = 'is blocked: Username needs to start with an alphanumeric character';
const localhost = 'is blocked: Requests to localhost are not allowed';
const network = 'is blocked: Requests to the local network are not allowed';

const hostile: Record<string, string[]> = {
  [scheme]: [
    'ext::sh -c id',
    'file:///etc/passwd',
    'ftp://host.example/a',
    'fd::17',
    'javascript:alert(1)',
    'FILE:///a',
  ],
  [uri]: [
    ...['', 'host.example/a', '/etc/passwd', '-oProxyCommand=id', '--upload-pack=id', 'git@host.example:a/b.git'],
    ...['https://', 'https:///a', 'https:host.example/a', 'https:\\\\host.example\\a', 'https://host.example'],
    ...[
      'ssh://-oProxyCommand=id/a',
      'ssh://git@-oProxyCommand=id/a',
      'ssh://host.example/-a',
      'ssh://host.example/a/--b',
    ],
    ...[
      'https://host.example/a b',
      'https://host.example/a%20b',
      'https://host.example/a%0ab',
      'https://host.example/a\nb',
    ],
    ...[
      'https://a%0d:b@host.example/a',
      'https://a:b%0a@host.example/a',
      'https://a:b%00@host.example/a',
      ' https://host.example/a',
    ],
    ...[
      'https://host.example/a?service=x',
      'https://host.example/a#b',
      'ssh://host.example/%zz',
      'ssh://ho%0ast.example/a',
    ],
    ...['ssh://host.example:99999/a', 'https://host.example/a\t'],
  ],
  [username]: [
    'https://-x:y@host.example/a',
    'ssh://-oProxyCommand=id@host.example/a',
    'ssh://%2doProxy@host.example/a',
  ],
  [localhost]: [
    ...['http://localhost/a', 'http://127.0.0.1/a', 'http://127.1/a', 'http://2130706433/a', 'http://0x7f.1/a'],
    ...['ssh://127.1/a', 'ssh://0x7f.0.0.1/a', 'ssh://2130706433/a', 'git://[::1]/a', 'ssh://git@[::ffff:127.0.0.1]/a'],
    ...['ssh://git@LOCALHOST/a', 'git://localhost./a', 'ssh://%6cocalhost/a'],
  ],
  [network]: [
    'http://10.0.0.1/a',
    'ssh://192.168.1.1/a',
    'git://169.254.169.254/a',
    'https://metadata.google.internal/a',
  ],
};

test('addresses that lead elsewhere, or that git could misinterpret, are refused', () => {
  for (const [reason, texts] of Object.entries(hostile))
    for (const text of texts) assert.equal(addressIn(text, false), reason, JSON.stringify(text));
  assert.equal(typeof addressIn('ssh://git@127.0.0.1/a', true), 'object');
  assert.equal(addressIn('ext::sh -c id', true), scheme);
});

test('stored errors contain no parts of a login, and are limited in length', () => {
  const login = { username: 'ada', password: 'p@ss' };
  assert.equal(
    keptError('fatal: https://ada:p%40ss@host.example/a and p@ss and http://x:y@127.0.0.1:1/', login),
    'fatal: https://*****:*****@host.example/a and ***** and http://*****:*****@127.0.0.1:1/',
  );
  assert.equal(keptError('no access for glpat-x', { username: 'glpat-x' }), 'no access for *****');
  assert.equal(keptError('x'.repeat(2000), login).length, 1024);
  assert.equal(keptError('a\0b\x1b[31m\nc', login), 'a b [31m\nc');
});

test('host keys are read from lines of known_hosts', () => {
  const blob = Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 1, 7])]);
  const key = `ssh-ed25519 ${blob.toString('base64')}`;
  for (const line of [key, `host.example ${key}`, `[host.example]:22,1.2.3.4 ${key} a comment`])
    assert.equal(hostKeyIn(line), key);
  for (const line of ['', 'host.example', `ssh-rsa ${blob.toString('base64')}`, `a b ${key}`, 'ssh-ed25519 !!'])
    assert.equal(hostKeyIn(line), undefined, line);
});
