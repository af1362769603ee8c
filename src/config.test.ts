import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

const problemsOf = (env: Record<string, string>) => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
};

test('nothing has to be set', () => {
  const config = readConfig({ PATH: '/usr/bin' });
  assert.equal(config.url, 'http://localhost:3000');
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 3000);
  assert.equal(config.data, path.resolve('data'));
  assert.equal(config.databaseUrl, undefined);
  assert.deepEqual(config.storages, [{ name: 'default', path: path.resolve('data/repositories') }]);
  assert.deepEqual(config.blobs, { kind: 'folder', path: path.resolve('data/blobs') });
  assert.equal(config.offering, 'any');
  assert.deepEqual(config.trustedProxies, []);
  assert.equal(config.logLevel, 'info');
  assert.deepEqual([config.ingestQueueMax, config.ingestMinFreeDisk_mb], [100_000, 512]);
});

test('a variable that is set but empty counts as not set', () => {
  assert.deepEqual(
    readConfig({ COPPICE_PORT: '', COPPICE_ROOT_TOKEN: '', COPPICE_ROOT_TOKEN_FILE: '' }),
    readConfig({}),
  );
});

test('the address is derived from host and port by default', () => {
  assert.equal(readConfig({ COPPICE_PORT: '8080' }).url, 'http://localhost:8080');
  assert.equal(readConfig({ COPPICE_HOST: '0.0.0.0', COPPICE_PORT: '80' }).url, 'http://localhost');
  assert.equal(readConfig({ COPPICE_HOST: '10.1.2.3' }).url, 'http://10.1.2.3:3000');
  assert.equal(readConfig({ COPPICE_HOST: 'fd00::1' }).url, 'http://[fd00::1]:3000');
  assert.equal(readConfig({ COPPICE_URL: 'https://forge.example.com/' }).url, 'https://forge.example.com');
});

test('the sender of mail is an address, alone or with a name', () => {
  const sender = (COPPICE_MAIL_FROM: string) => readConfig({ COPPICE_MAIL_FROM }).mailFrom;
  const address = 'forge@example.com';
  assert.deepEqual(readConfig({ COPPICE_URL: 'https://example.com' }).mailFrom, {
    name: 'Coppice',
    address: 'coppice@example.com',
  });
  assert.deepEqual(sender(address), { name: 'Coppice', address });
  assert.deepEqual(sender(`Our Forge <${address}>`), { name: 'Our Forge', address });
  assert.deepEqual(sender(`"Forge, Inc." <${address}>`), { name: 'Forge, Inc.', address });
  for (const wrong of ['forge', 'Forge <forge>', '<a@b.c> x', `${address}, ${address}`])
    assert.match(
      problemsOf({ COPPICE_MAIL_FROM: wrong }).join(),
      /^COPPICE_MAIL_FROM must be an email address, perhaps with a name/,
    );
});

test('storages keep their order and become absolute', () => {
  assert.deepEqual(readConfig({ COPPICE_STORAGES: 'default=/srv/a, second=b' }).storages, [
    { name: 'default', path: '/srv/a' },
    { name: 'second', path: path.resolve('b') },
  ]);
});

test('large files are in a folder or in a bucket, whose address has no credentials', () => {
  const placeOf = (COPPICE_BLOBS: string) => readConfig({ COPPICE_BLOBS }).blobs;
  assert.deepEqual(placeOf('large'), { kind: 'folder', path: path.resolve('large') });
  const bucket = {
    kind: 's3',
    bucket: 'forge-blobs',
    prefix: '',
    region: 'eu-central-1',
    endpoint: undefined,
    path_style: false,
  };
  assert.deepEqual(placeOf('s3://forge-blobs?region=eu-central-1'), bucket);
  assert.deepEqual(placeOf('s3://forge-blobs/one/two/?endpoint=http://localhost:9000/'), {
    ...bucket,
    ...{ prefix: 'one/two/', region: 'us-east-1', endpoint: 'http://localhost:9000', path_style: true },
  });
  assert.deepEqual(placeOf('s3://forge-blobs?endpoint=https://s3.example.com&region=eu-central-1&path_style=false'), {
    ...bucket,
    endpoint: 'https://s3.example.com',
  });
  const wrong = {
    's3://forge-blobs': /needs a region, or the endpoint/,
    's3://A_b?region=x': /names a bucket that S3 does not allow/,
    's3://forge-blobs?endpoint=s3.example.com': /has an endpoint that must be an address/,
    's3://forge-blobs?region=x&style=path': /takes endpoint, region, path_style once each, not “style”/,
    's3://forge-blobs?region=x&path_style=yes': /true or false as path_style/,
    's3://key:hidden@forge-blobs?region=x': /must not contain credentials/,
    'https://key:hidden@forge.example.com': /must be a folder or an address like s3:/,
  };
  for (const [value, pattern] of Object.entries(wrong)) {
    const [problem, ...others] = problemsOf({ COPPICE_BLOBS: value });
    assert.match(problem!, pattern);
    assert.ok(problem!.startsWith('COPPICE_BLOBS ') && problem!.endsWith('.') && !problem!.includes('hidden'), problem);
    assert.deepEqual(others, []);
  }
});

test('every problem is reported at once, each naming its variable', () => {
  const problems = problemsOf({
    COPPICE_URL: 'https://example.com/forge',
    COPPICE_HOST: '300.1.1.1',
    COPPICE_PORT: '70000',
    COPPICE_DATABASE_URL: 'mysql://root:hidden@localhost',
    COPPICE_STORAGES: 'default=/a,default=/b',
    COPPICE_ROOT_PASSWORD: 'short',
    COPPICE_ROOT_TOKEN: 'with a space',
    COPPICE_ROOT_EMAIL: 'nobody',
    COPPICE_OFFERING: 'cloud',
    COPPICE_TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/33',
    COPPICE_LOG_LEVEL: 'loud',
    COPPICE_PROT: '3000',
    COPPICE_INGEST_QUEUE_MAX: '0',
    COPPICE_INGEST_MIN_FREE_DISK_MB: '-1',
    COPPICE_GEO_ROLE: 'replica',
    COPPICE_GEO_NODE_NAME: ' ',
    COPPICE_GEO_PRIMARY_URL: 'https://example.com/forge',
    COPPICE_GEO_DATABASE_URL: 'mysql://root:hidden@localhost',
  });
  assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'COPPICE_DATABASE_URL',
    'COPPICE_GEO_DATABASE_URL',
    'COPPICE_GEO_NODE_NAME',
    'COPPICE_GEO_PRIMARY_URL',
    'COPPICE_GEO_ROLE',
    'COPPICE_HOST',
    'COPPICE_INGEST_MIN_FREE_DISK_MB',
    'COPPICE_INGEST_QUEUE_MAX',
    'COPPICE_LOG_LEVEL',
    'COPPICE_OFFERING',
    'COPPICE_PORT',
    'COPPICE_PROT',
    'COPPICE_ROOT_EMAIL',
    'COPPICE_ROOT_PASSWORD',
    'COPPICE_ROOT_TOKEN',
    'COPPICE_STORAGES',
    'COPPICE_TRUSTED_PROXIES',
    'COPPICE_URL',
  ]);
  assert.ok(problems.every((problem) => problem.endsWith('.')));
  assert.ok(!problems.join().includes('hidden'), 'a password is not repeated');
});

test('a node has the external address as its name, and a secondary must know its primary', () => {
  assert.deepEqual(readConfig({ COPPICE_URL: 'https://forge.example.com', COPPICE_GEO_ROLE: 'primary' }).geo, {
    role: 'primary',
    nodeName: 'https://forge.example.com',
    primaryUrl: undefined,
    databaseUrl: undefined,
  });
  const secondary = { COPPICE_GEO_ROLE: 'secondary', COPPICE_GEO_NODE_NAME: ' Lisbon ' };
  assert.deepEqual(readConfig({ ...secondary, COPPICE_GEO_PRIMARY_URL: 'https://forge.example.com/' }).geo, {
    role: 'secondary',
    nodeName: 'Lisbon',
    primaryUrl: 'https://forge.example.com',
    databaseUrl: undefined,
  });
  assert.deepEqual(problemsOf(secondary), [
    'COPPICE_GEO_PRIMARY_URL must say where this secondary reaches the primary.',
  ]);
  assert.equal(problemsOf({ ...secondary, COPPICE_GEO_PRIMARY_URL: 'forge' }).length, 1);
});

test('a secret may come from a file, but not from two places', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coppice-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'token');
  writeFileSync(file, 'a-long-root-token\n');

  assert.equal(readConfig({ COPPICE_ROOT_TOKEN_FILE: file }).rootToken, 'a-long-root-token');
  assert.match(problemsOf({ COPPICE_ROOT_TOKEN_FILE: file, COPPICE_ROOT_TOKEN: 'another-token' }).join(), /both set/);
  assert.match(problemsOf({ COPPICE_ROOT_TOKEN_FILE: `${file}.missing` }).join(), /cannot be read: .*ENOENT/);
  assert.match(problemsOf({ COPPICE_PORT_FILE: file }).join(), /COPPICE_PORT_FILE is not a variable/);
});

test('the key of another issuer is a public one, as text or in a file', (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  assert.equal(readConfig({ COPPICE_LICENSE_PUBLIC_KEY: pem }).licensePublicKey, pem);
  const folder = mkdtempSync(path.join(tmpdir(), 'coppice-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'license.pem');
  writeFileSync(file, pem);
  assert.equal(readConfig({ COPPICE_LICENSE_PUBLIC_KEY_FILE: file }).licensePublicKey, pem.trimEnd());
  const others = [
    privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    generateKeyPairSync('x25519').publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    pem.replace('M', ''),
  ];
  for (const wrong of others) {
    const problems = problemsOf({ COPPICE_LICENSE_PUBLIC_KEY: wrong });
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^COPPICE_LICENSE_PUBLIC_KEY must be the public key/);
  }
});

test('problems of the file of providers are reported with the others', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coppice-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const COPPICE_SIGN_IN = path.join(folder, 'sign_in.yml');
  writeFileSync(COPPICE_SIGN_IN, 'providers: [{name: corp, type: oidc, client_id: forge}]\n');
  assert.deepEqual(problemsOf({ COPPICE_PORT: 'x', COPPICE_SIGN_IN }), [
    'COPPICE_PORT must be a whole number from 1 to 65535, not “x”.',
    'COPPICE_SIGN_IN has a problem: providers[0] (corp): issuer is missing.',
  ]);
  assert.match(problemsOf({ COPPICE_SIGN_IN: '/nowhere.yml' }).join(), /cannot be read: .*ENOENT/);
});
