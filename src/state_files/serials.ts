/** What is read of a state of Terraform. Pure functions. */
import { hash } from 'node:crypto';

/** A state as a client sent it, with the header `Content-MD5`, if there is one. */
export interface SentState {
  content: Uint8Array;
  digest: string | undefined;
}

export interface ReadState {
  /** Undefined for what is no state. */
  serial: number | undefined;
  /** Whether the digest, if there is one, is that of the content. */
  fits: boolean;
}

function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch {
    return undefined;
  }
}

function serialIn(content: Buffer): number | undefined {
  const state = parsed(content);
  const serial: unknown =
    typeof state === 'object' && state !== null && 'serial' in state && !Array.isArray(state)
      ? state.serial
      : undefined;
  return Number.isSafeInteger(serial) && (serial as number) >= 0 ? (serial as number) : undefined;
}

export function readState({ content, digest }: SentState): ReadState {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return { serial: serialIn(bytes), fits: digest === undefined || digest === hash('md5', bytes, 'base64') };
}
