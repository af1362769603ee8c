/** Encrypts files, each with a key of its own, which is sealed with the secret key. */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonce_bytes = 12;
const tag_bytes = 16;

/**
 * Encrypts the content of a file.
 * @param key 32 bytes, used for this content alone, so that no nonce is needed
 */
export function encrypted(key: Buffer, content: Buffer): Buffer {
  const cipher = createCipheriv(algorithm, key, Buffer.alloc(nonce_bytes));
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([cipher.getAuthTag(), sealed]);
}

/** @throws Error if it was changed, or encrypted with another key */
export function decrypted(key: Buffer, stored: Buffer): Buffer {
  const decipher = createDecipheriv(algorithm, key, Buffer.alloc(nonce_bytes));
  decipher.setAuthTag(stored.subarray(0, tag_bytes));
  return Buffer.concat([decipher.update(stored.subarray(tag_bytes)), decipher.final()]);
}
