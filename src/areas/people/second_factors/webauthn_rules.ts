/** The challenges of passkeys and security keys, which no table keeps until they are answered (docs/reference/second_factors.md#keys). */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Services } from '../../../http/index.ts';

/** For how long an answer to a challenge counts, in minutes. */
export const challenge_minutes = 5;
const random_bytes = 16;
const time_bytes = 6;
const tag_bytes = 16;

type Secrets = Services['secrets'];

/** What a challenge is for: adding a key, signing in by a passkey, or a second factor. */
export type Purpose = 'registration' | 'passkey' | 'second factor';

/** To whom a challenge is given: the browser, and the purpose. */
export interface Challenged {
  /** The id of the browser (`Browser`). */
  browser: string;
  purpose: Purpose;
}

const tagOf = (secrets: Secrets, head: Buffer, { browser, purpose }: Challenged): Buffer =>
  createHmac('sha256', secrets.keyFor('webauthn challenge'))
    .update(head)
    .update(`${purpose} ${browser}`)
    .digest()
    .subarray(0, tag_bytes);

/**
 * A challenge that this server recognises.
 * @param now in milliseconds since 1970
 */
export function newChallenge(secrets: Secrets, challenged: Challenged, now = Date.now()): Buffer {
  const time = Buffer.alloc(time_bytes);
  time.writeUIntBE(now, 0, time_bytes);
  const head = Buffer.concat([randomBytes(random_bytes), time]);
  return Buffer.concat([head, tagOf(secrets, head, challenged)]);
}

/** Whether a challenge was given by this server to the browser, for the purpose, and not too long ago. */
export function isOwnChallenge(secrets: Secrets, challenge: Buffer, challenged: Challenged, now = Date.now()): boolean {
  const head = challenge.subarray(0, random_bytes + time_bytes);
  const tag = challenge.subarray(head.length);
  if (tag.length !== tag_bytes || !timingSafeEqual(tag, tagOf(secrets, head, challenged))) return false;
  const age_ms = now - head.readUIntBE(random_bytes, time_bytes);
  return age_ms >= 0 && age_ms < challenge_minutes * 60_000;
}

/** The host that keys belong to; undefined where browsers allow none: at an IP address, or without HTTPS. */
export function keyHostOf(url: string): string | undefined {
  const { hostname, protocol } = new URL(url);
  const isHost = isIP(hostname) === 0 && !hostname.startsWith('[');
  return isHost && (protocol === 'https:' || hostname === 'localhost') ? hostname : undefined;
}
