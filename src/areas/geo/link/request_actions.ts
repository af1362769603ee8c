/** Requests of a secondary to its primary. */
import type { IncomingMessage } from 'node:http';
import type { Services } from '../../../http/index.ts';
import { OutboundError, openRequest, reasonOf } from '../../../outbound/index.ts';
import { keyWith, type LinkRefusal, linkKey } from './access.ts';
import { credentialOf } from './credential_rules.ts';
import type { Handshake } from './handshake_http.ts';
import { geoRoot } from './http.ts';
import { announcementOf, digestOf, needsCredential, sign } from './signature_rules.ts';

/** The services that a secondary needs to send requests. */
export type Site = Pick<Services, 'secrets' | 'geo'>;

export interface Question {
  method: 'GET' | 'POST';
  /** The path below `/api/v4/geo`, with the query. */
  path: string;
  headers?: Record<string, string>;
  /** Omitted with GET. */
  body?: string | Buffer;
  /**
   * How long the primary may be silent before the head of its response, and then between parts of it; 30 seconds if
   * omitted.
   */
  silence_ms?: number | undefined;
  signal?: AbortSignal;
}

/** The primary has refused a request. */
export class PrimaryRefusal extends Error {
  override name = 'PrimaryRefusal';
  readonly status: number;
  /** Why it was not authorized, if this is the reason. */
  readonly reason: LinkRefusal | undefined;

  constructor(status: number, sentence: string, reason?: LinkRefusal) {
    super(sentence);
    this.status = status;
    this.reason = reason;
  }
}

const usualSilence_ms = 30_000;
const maximumJson_bytes = 4 * 1024 * 1024;

/** The key from the last handshake, by site. */
const keys = new WeakMap<Site['geo'], Buffer>();

/**
 * Performs the handshake with the primary, and stores the credential that it returns.
 * @throws PrimaryRefusal, OutboundError
 */
export async function shakeHands(site: Site, silence_ms?: number): Promise<Handshake> {
  const handshake = await askPrimaryForJson<Handshake>(site, { method: 'GET', path: '/handshake', silence_ms });
  const sealed = handshake.credential === null ? null : Buffer.from(handshake.credential, 'base64');
  const credential = credentialOf(site.secrets, { credential: sealed });
  // Without a credential, requests are signed with the shared key, and the primary refuses them with the reason.
  keys.set(site.geo, credential === undefined ? linkKey(site) : keyWith(site, credential));
  return handshake;
}

/** Makes the next request start with a handshake, because the credential may have been renewed. */
export const forgetCredential = ({ geo }: Site): boolean => keys.delete(geo);

async function keyFor(site: Site, path: string, silence_ms?: number): Promise<Buffer> {
  if (!needsCredential(path)) return linkKey(site);
  if (!keys.has(site.geo)) await shakeHands(site, silence_ms);
  return keys.get(site.geo)!;
}

/**
 * The address and the headers of a signed request.
 * @param body the body to be sent with it
 * @throws PrimaryRefusal, OutboundError from the handshake, if it is still needed
 */
export async function signedRequest(
  site: Site,
  { method, path, body = '', headers, silence_ms }: Omit<Question, 'signal'>,
): Promise<{ url: string; headers: Record<string, string> }> {
  const url = new URL(`${site.geo.primaryUrl}${geoRoot}${path}`);
  const digest = digestOf(body);
  const signed = { method, path: `${url.pathname}${url.search}`, digest };
  const key = await keyFor(site, url.pathname, silence_ms);
  return {
    url: url.href,
    headers: {
      ...headers,
      authorization: sign(key, site.geo.nodeName, signed, new Date()),
      ...(method === 'GET'
        ? {}
        : { 'content-digest': announcementOf(digest), 'content-length': String(Buffer.byteLength(body)) }),
    },
  };
}

async function askOnce(site: Site, question: Question): Promise<IncomingMessage> {
  const { method, body, silence_ms = usualSilence_ms, signal } = question;
  const silent = () => new OutboundError(`The primary has said nothing for ${silence_ms / 1000} seconds`);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(silent()), silence_ms);
  const signals = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  try {
    const opening = { method, body, ...(await signedRequest(site, question)), verifies_tls: true, may_be_local: true };
    const answer = await openRequest(opening, signals);
    answer.setTimeout(silence_ms, () => answer.destroy(silent()));
    return answer;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PrimaryRefusal) throw error;
    throw silence.signal.aborted ? silent() : new OutboundError(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends a request to the primary, which may be in any network, because the operator has configured its address. After a
 * refusal the next request starts with a handshake, because the credential may have been renewed.
 * @returns the response, whatever its status, as a stream that has to be read or destroyed; it fails if the primary
 * falls silent
 * @throws OutboundError without a response, PrimaryRefusal from the handshake
 */
export async function askPrimary(site: Site, question: Question): Promise<IncomingMessage> {
  const isKnown = keys.has(site.geo);
  const answer = await askOnce(site, question);
  if (answer.statusCode !== 401 || !isKnown || !needsCredential(`${geoRoot}${question.path}`)) return answer;
  answer.destroy();
  forgetCredential(site);
  return askOnce(site, question);
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size_bytes += chunk.length;
    if (size_bytes > maximumJson_bytes) throw new OutboundError('The answer of the primary is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Parses a refusal if it is one of ours; a proxy in front of the primary may send anything. */
async function refusalOf(answer: IncomingMessage): Promise<PrimaryRefusal> {
  const status = answer.statusCode ?? 0;
  const text = await textOf(answer);
  try {
    const { message, reason } = JSON.parse(text) as { message?: unknown; reason?: LinkRefusal };
    if (typeof message === 'string') return new PrimaryRefusal(status, message, reason);
  } catch {} // reported below
  return new PrimaryRefusal(status, `The primary answers with ${status}.`);
}

/**
 * The same for a JSON response.
 * @throws PrimaryRefusal for any status but 2xx, OutboundError without a response
 */
export async function askPrimaryForJson<Answer>(site: Site, question: Question): Promise<Answer> {
  const answer = await askPrimary(site, question);
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) throw await refusalOf(answer);
  return JSON.parse(await textOf(answer)) as Answer;
}
