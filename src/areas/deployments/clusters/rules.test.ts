import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { apiUrlReasons, certificateReasons, domainReasons, namespaceReasons } from './rules.ts';

/** Ended on 2020-01-02. */
const expired = `-----BEGIN CERTIFICATE-----
MIIBGzCBwgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9leHBpcmVkLmV4YW1w
bGUwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAaMRgwFgYDVQQDDA9l
eHBpcmVkLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATc60rMS65F
EdLXKY3sVzquczTmbtliKQgSiCF98xqbU0QlAnOE6fkEGdEjnpYnMM+INoFqXNtK
xyJGt1Qmhn9NMAoGCCqGSM49BAMCA0gAMEUCICffdju0s3ARFHqg3DTJm+x5vgEt
DH/uvXpAM0K/qEHKAiEAo5suV3XrgUU5muDkcLqeGusJ5Kv45aSRcIyapov3smY=
-----END CERTIFICATE-----`;

test('a certificate can be a bundle with comments in between, and can be expired', () => {
  const [first, second] = rootCertificates as [string, string];
  for (const text of [first, `${first}\n${second}`, `# The first\n${first}\r\n# The second\n${second}\n`, expired])
    assert.deepEqual(certificateReasons(text), [], text);
});

test('text that is not a certificate, or contains anything else, is refused', () => {
  const [first] = rootCertificates as [string];
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const broken = first.replace(/\n[A-Za-z0-9+/]{64,}\n/, '\nAAAA\n');
  for (const text of [
    'x',
    first.slice(0, -30),
    broken,
    `${first}\n${broken}`,
    `${first}\n${key}`,
    String(key),
    `${first}\n-----BEGIN`,
  ])
    assert.deepEqual(certificateReasons(text), ['must be a valid PEM certificate'], text);
  assert.deepEqual(certificateReasons(`${first}${' '.repeat(65_536)}`), ['is too long (maximum is 65535 characters)']);
});

test('a domain is a host name, whose last label may be a number', () => {
  for (const domain of [
    'example.com',
    'a',
    '1.2.3',
    'UPPER.example',
    'xn--bcher-kva.example',
    '0',
    `${'a'.repeat(63)}.example`,
  ])
    assert.deepEqual(domainReasons(domain), [], domain);
  const characters = 'label contains invalid characters (valid characters: [a-z0-9\\-])';
  for (const domain of ['a_b.example', 'a b', '*.example.com', 'bücher.example', 'http://example.com', 'a/b', 'a\nb'])
    assert.deepEqual(domainReasons(domain), [characters], domain);
  for (const domain of ['-a.example', 'a-.example'])
    assert.deepEqual(domainReasons(domain), ['label begins or ends with a hyphen']);
  for (const domain of ['a..b', '.a', 'a.', `${'a'.repeat(64)}.example`])
    assert.deepEqual(domainReasons(domain), ['label must be between 1 and 63 characters long'], domain);
  assert.deepEqual(domainReasons('a.'.repeat(128)), ['is too long (maximum is 255 characters)']);
});

test('a namespace is a label of RFC 1123, and only for unmanaged clusters', () => {
  for (const namespace of ['a', '0', 'a-b', '1a', 'a'.repeat(63)])
    assert.deepEqual(namespaceReasons(namespace, false), [], namespace);
  const pattern =
    "can contain only lowercase letters, digits, and '-'. Must start with a letter, and cannot end with '-'";
  for (const namespace of ['-a', 'a-', 'a.b', 'a_b', 'a b', 'a\n', 'ä', 'A'])
    assert.deepEqual(namespaceReasons(namespace, false), [pattern], namespace);
  assert.deepEqual(namespaceReasons('a'.repeat(64), false), ['is too long (maximum is 63 characters)']);
  assert.deepEqual(namespaceReasons('gitlab-managed-apps', false), ['is reserved']);
  assert.deepEqual(namespaceReasons('a', true), ['only allowed for project cluster']);
});

test('an address is an HTTP URL of another machine', () => {
  for (const url of [
    'https://kube.example.com',
    'http://35.1.2.3:6443/api',
    'HTTPS://[2a00::1]',
    'https://kube.example.com/a?b#c',
  ])
    assert.deepEqual(apiUrlReasons(url, false), [], url);
  const scheme = ['is blocked: Only allowed schemes are http, https'];
  for (const url of [
    'kube.example.com',
    'ftp://kube.example.com',
    'javascript:alert(1)',
    'https://',
    'https:///',
    'https://a b',
    'http:\\\\a',
    ' https://a.b',
    'https://a.b\n',
    'https://a.b:99999',
  ])
    assert.deepEqual(apiUrlReasons(url, true), scheme, url);
  for (const url of ['http://localhost', 'https://127.0.0.1:6443', 'https://0x7f000001', 'https://[::1]/'])
    assert.deepEqual(apiUrlReasons(url, false), ['is blocked: Requests to localhost are not allowed'], url);
  for (const url of [
    'https://10.0.0.1',
    'https://me@192.168.1.1',
    'https://169.254.169.254/latest',
    'https://kubernetes',
  ])
    assert.deepEqual(apiUrlReasons(url, false), ['is blocked: Requests to the local network are not allowed'], url);
  for (const url of ['http://localhost', 'https://10.0.0.1']) assert.deepEqual(apiUrlReasons(url, true), [], url);
  assert.deepEqual(apiUrlReasons(`https://a.example/${'a'.repeat(2048)}`, false), [
    'is too long (maximum is 2048 characters)',
  ]);
});
