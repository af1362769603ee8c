/** Encrypts files, each with a key of its own, which is sealed with the secret key. The work is done outside the main thread. */
import { webcrypto } from 'node:crypto';

const { subtle } = webcrypto;

/** A key is used for one content alone, so that no nonce is needed. */
const cipher = { name: 'AES-GCM', iv: new Uint8Array(12) };
const tag_bytes = 16;

const bytesOf = (value: Buffer): Uint8Array<ArrayBuffer> => value as Uint8Array<ArrayBuffer>;

const keyFrom = (key: Buffer, usage: 'encrypt' | 'decrypt') =>
  subtle.importKey('raw', bytesOf(key), 'AES-GCM', false, [usage]);

/**
 * Encrypts the content of a file.
 * @param key 32 bytes, used for this content alone
 */
export async function encrypted(key: Buffer, content: Buffer): Promise<Buffer> {
  const sealed = Buffer.from(await subtle.encrypt(cipher, await keyFrom(key, 'encrypt'), bytesOf(content)));
  return Buffer.concat([sealed.subarray(-tag_bytes), sealed.subarray(0, -tag_bytes)]);
}

/** @throws Error if it was changed, or encrypted with another key */
export async function decrypted(key: Buffer, stored: Buffer): Promise<Buffer> {
  const sealed = Buffer.concat([stored.subarray(tag_bytes), stored.subarray(0, tag_bytes)]);
  return Buffer.from(await subtle.decrypt(cipher, await keyFrom(key, 'decrypt'), bytesOf(sealed)));
}

/** Tells whether two contents are the same without telling what is in them: an HMAC with the key of one of them, in hexadecimal. */
export async function digestWith(key: Buffer, content: Buffer): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const signing = await subtle.importKey('raw', bytesOf(key), algorithm, false, ['sign']);
  return Buffer.from(await subtle.sign('HMAC', signing, bytesOf(content))).toString('hex');
}
