import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { readPublicKey } from './rules.ts';

const field = (value: Buffer | string) => {
  const bytes = Buffer.from(value as Buffer);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const line = (type: string, ...fields: (Buffer | string)[]) =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')}`;

const bytesOf = (text: string | undefined) => Buffer.from(text!, 'base64url');
/** An integer in the format of SSH: with a leading zero when it would look negative. */
const integer = (text: string | undefined) => {
  const bytes = bytesOf(text);
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
};

function rsaLine(modulusLength: number): string {
  const { e, n } = generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
  return line('ssh-rsa', integer(e), integer(n));
}

function pointOn(namedCurve: string): Buffer {
  const { x, y } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), bytesOf(x), bytesOf(y)]);
}

const edPoint = () => bytesOf(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x);

test('keys of every type are read, from ssh-keygen and hardware security keys', () => {
  const keys = [
    rsaLine(2048),
    line('ssh-ed25519', edPoint()),
    ...(
      [
        ['nistp256', 'P-256'],
        ['nistp384', 'P-384'],
        ['nistp521', 'P-521'],
      ] as const
    ).map(([name, curve]) => line(`ecdsa-sha2-${name}`, name, pointOn(curve))),
    line('sk-ssh-ed25519@openssh.com', edPoint(), 'ssh:'),
    line('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', pointOn('P-256'), 'ssh:'),
  ];
  for (const key of keys) {
    const blob = Buffer.from(key.split(' ')[1]!, 'base64');
    const fingerprint_sha256 = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
    assert.deepEqual(readPublicKey(key), { text: key, fingerprint_sha256 });
    // The comment is stored and is not part of the key.
    assert.deepEqual(readPublicKey(` ${key} ada at home \n`), { text: `${key} ada at home`, fingerprint_sha256 });
  }
});

test('the fingerprint is the one that ssh-keygen shows', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMFQlU4RitdN2rgB+cPPGTb2IeN6H7H8UyzMxTbVNAtU ada@example.com';
  assert.deepEqual(readPublicKey(key), {
    text: key,
    fingerprint_sha256: '4LnZ1xKhZq5gi4QrEtKgdmM6E+UI9j90N2WZKlg6XbQ',
  });
});

test('invalid keys are refused', () => {
  const ed = edPoint();
  const broken = [
    '',
    'ssh-ed25519',
    'ssh-ed25519 not/base64!',
    'ssh-ed25519 AAAA',
    `ssh-rsa ${line('ssh-ed25519', ed).split(' ')[1]}`,
    line('ssh-ed25519', ed.subarray(1)),
    line('ssh-ed25519', ed, 'more'),
    line('sk-ssh-ed25519@openssh.com', ed),
    line('ecdsa-sha2-nistp256', 'nistp384', pointOn('P-384')),
    // A point that is not on the curve.
    line('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)])),
    `${line('ssh-ed25519', ed)}\n${line('ssh-ed25519', ed)}`,
    '-----BEGIN PUBLIC KEY-----',
    line('toString', ed),
    `ssh-ed25519 ${'A'.repeat(30_000)}`,
    // As long as it is, it must not be matched again from each space.
    `ssh-ed25519 AAAA ${' '.repeat(2_000_000)}\nx`,
  ];
  for (const text of broken) assert.deepEqual(readPublicKey(text), { refusal: 'is invalid' }, text.slice(0, 80));
  for (const short of [rsaLine(1024), line('ssh-rsa', '', '')])
    assert.deepEqual(readPublicKey(short), { refusal: 'must be at least 2048 bits' });
  const dsa = readPublicKey(line('ssh-dss', 'p', 'q', 'g', 'y'));
  assert.deepEqual(dsa, { refusal: 'type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK' });
});
