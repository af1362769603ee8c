/** What a state of Terraform is, and how its versions are encrypted (docs/reference/terraform_states.md). Pure functions. */
import { createCipheriv, createDecipheriv, createHmac, hash } from 'node:crypto';

export const namePattern = /^[\w.-]{1,255}$/;

/** Whatever the setting says: a state is held in memory. */
export const largestState_bytes = 64 * 1024 * 1024;

const longestLock = 65_536;
const longestId = 255;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The serial that a state has; undefined for what is no state. */
export function serialIn(content: Buffer): number | undefined {
  const state = parsed(content);
  const serial = isRecord(state) ? state.serial : undefined;
  return Number.isSafeInteger(serial) && (serial as number) >= 0 ? (serial as number) : undefined;
}

/** A lock, as a client asks for it. */
export interface Lock {
  id: string;
  /** As it was sent. */
  info: string;
}

const isId = (id: unknown): id is string =>
  typeof id === 'string' && id !== '' && id.length <= longestId && !id.includes('\0') && id.isWellFormed();

/** The lock in a body; undefined if there is none with an ID, or one that is not flat. */
export function lockIn(content: Buffer): Lock | undefined {
  const info = content.length <= longestLock ? parsed(content) : undefined;
  if (!isRecord(info) || !isId(info.ID)) return undefined;
  // Locks are flat. PostgreSQL stores neither NUL nor halves of characters.
  const isStorable = (part: unknown) =>
    typeof part === 'string' ? !part.includes('\0') && part.isWellFormed() : typeof part !== 'object' || part === null;
  return Object.entries(info).flat().every(isStorable) ? { id: info.ID, info: JSON.stringify(info) } : undefined;
}

/** Whether the header `Content-MD5` fits the bytes, if there is one. */
export const fitsDigest = (content: Buffer, header: string | undefined): boolean =>
  header === undefined || header === hash('md5', content, 'base64');

const algorithm = 'aes-256-gcm';
const nonce_bytes = 12;
const tag_bytes = 16;

/**
 * Encrypts a state.
 * @param key 32 bytes, used for this state alone, so that no nonce is needed
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

/** Tells whether two states are the same without telling what is in them. */
export const digestOf = (key: Buffer, content: Buffer): string =>
  createHmac('sha256', key).update(content).digest('hex');
