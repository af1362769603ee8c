/** The signature of requests between the sites of an installation (docs/reference/geo.md#signature). */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The maximum difference between the clocks of two sites, and so the lifetime of a signature. */
export const tolerance_s = 60;

/**
 * Requests that are signed with the secret key alone: the handshake, which returns the credential, and the query for
 * the current primary.
 */
const beforeCredential = new Set(['/api/v4/geo/handshake', '/api/v4/geo/primary']);

/**
 * Whether a request must be signed with the credential of the node as part of the key.
 * @param path with or without a query
 */
export const needsCredential = (path: string): boolean => !beforeCredential.has(path.split('?', 1)[0]!);

/** The signed parts of a request. */
export interface SignedRequest {
  method: string;
  /** The path as sent, with the query. */
  path: string;
  /** The SHA-256 of the body, in hex. */
  digest: string;
}

/** The parsed `Authorization` of a request. */
export interface Signature {
  /** The name of the node that signed. */
  node: string;
  /** The time of the signature in seconds since 1970. */
  seconds: number;
  /** 32 hex digits, used once. */
  nonce: string;
  value: Buffer;
}

export const digestOf = (body: string | Buffer): string => createHash('sha256').update(body).digest('hex');

function macOf(
  key: Buffer,
  { method, path, digest }: SignedRequest,
  { seconds, nonce }: Pick<Signature, 'seconds' | 'nonce'>,
): Buffer {
  return createHmac('sha256', key).update([method, path, seconds, nonce, digest].join('\n')).digest();
}

/**
 * Signs a request.
 * @param key 32 bytes that both sites have
 * @param node the name of the node that sends the request
 * @returns the value of `Authorization`, which is valid for one request
 */
export function sign(key: Buffer, node: string, request: SignedRequest, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const nonce = randomBytes(16).toString('hex');
  const value = macOf(key, request, { seconds, nonce }).toString('hex');
  return `Geo ${Buffer.from(node).toString('base64url')}.${seconds}.${nonce}.${value}`;
}

/** A name has at most 255 characters, of up to 4 bytes. */
const form = /^Geo ([\w-]{1,1360})\.(\d{1,11})\.([0-9a-f]{32})\.([0-9a-f]{64})$/;

/** @returns undefined for any `Authorization` of another form */
export function readSignature(authorization: string | undefined): Signature | undefined {
  const [, node, seconds, nonce, value] = form.exec(authorization ?? '') ?? [];
  if (!node || !seconds || !nonce || !value) return undefined;
  const name = Buffer.from(node, 'base64url').toString();
  if (name.includes('\0')) return undefined;
  return { node: name, seconds: Number(seconds), nonce, value: Buffer.from(value, 'hex') };
}

/** Whether a signature was made with this key for this request; takes constant time. */
export const isSignedWith = (key: Buffer, request: SignedRequest, signature: Signature): boolean =>
  timingSafeEqual(macOf(key, request, signature), signature.value);

/** How many seconds the clock of the other site is ahead of `now`; negative when it is behind. */
export const secondsAhead = ({ seconds }: Signature, now: Date): number => seconds - Math.floor(now.getTime() / 1000);

/**
 * The SHA-256 of the body from `Content-Digest` (RFC 9530), in hex; without the header, that of an empty body;
 * undefined for any other form.
 */
export function announcedDigest(header: string | undefined): string | undefined {
  if (header === undefined) return digestOf('');
  const [, value] = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(header) ?? [];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('hex');
}

/** @returns the value of `Content-Digest` */
export const announcementOf = (digest: string): string => `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`;
