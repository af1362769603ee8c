/** Requests to other systems, whose URLs users give: guarded against addresses of the local network, and limited in time and size. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { localTargetOf, localTexts } from './addresses.ts';

/** There was no response. The message is a sentence for the person who gave the URL. */
export class OutboundError extends Error {
  override name = 'OutboundError';
}

/** The other system sent more than it may. */
export class ResponseTooLong extends OutboundError {
  override name = 'ResponseTooLong';

  constructor(most_bytes: number) {
    super(`The response is longer than ${most_bytes} bytes`);
  }
}

export interface Posting {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether the certificate of the other system must be valid. */
  verifies_tls: boolean;
  /** Whether the settings of the server allow addresses of the local network. */
  may_be_local: boolean;
  /** For everything together, until the end of the response. */
  timeout_ms: number;
  /** What is kept of the body of the response; the connection is closed after it. */
  most_bytes: number;
  /** Ends the request early. */
  signal?: AbortSignal;
}

interface Posted {
  status: number;
  headers: Record<string, string>;
  body: string;
}

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves a name and refuses it when any of its addresses is local: which one is used is not known here. */
export function guardedLookup(host: string, options: LookupOptions, answer: Answer): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return answer(error, '');
    const target = addresses.map(({ address }) => localTargetOf(address)).find((found) => found !== undefined);
    if (target !== undefined) return answer(new OutboundError(localTexts[target]), '');
    const [first] = addresses;
    return options.all || !first ? answer(null, addresses) : answer(null, first.address, first.family);
  });
}

/** Only what is kept is read. PostgreSQL accepts no NUL in texts. */
async function textOf(response: IncomingMessage, most_bytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size_bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size_bytes += part.length;
    if (size_bytes >= most_bytes) break;
  }
  return Buffer.concat(parts).subarray(0, most_bytes).toString('utf8').replaceAll('\0', '');
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

function responseTo(
  { url: text, headers, body, verifies_tls, may_be_local }: Posting,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(text);
  const start = url.protocol === 'https:' ? requestSecure : requestPlain;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { method: 'POST', headers, agent: false, signal, rejectUnauthorized: verifies_tls };
  const request = start(url, may_be_local ? options : { ...options, lookup: guardedLookup });
  request.on('response', resolve);
  request.on('error', reject);
  request.end(body);
  return promise;
}

const unknownAuthority = 'this server does not know the authority that issued it';
/** Why a certificate is not trusted, by the codes of OpenSSL. Node's messages advise on how to start Node. */
const distrust = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'it is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownAuthority],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownAuthority],
  ['CERT_UNTRUSTED', unknownAuthority],
  ['CERT_HAS_EXPIRED', 'it has expired'],
  ['CERT_NOT_YET_VALID', 'it is not valid yet'],
  ['CERT_REVOKED', 'it has been revoked'],
]);

/** A sentence for the person who gave the URL. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = distrust.get(code ?? '');
  if (reason !== undefined) return `The certificate is not trusted: ${reason}`;
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
};

/**
 * Sends a POST request. Redirects are not followed.
 * @throws OutboundError without a response: refused, unreachable, or too late
 */
export async function postTo(posting: Posting): Promise<Posted> {
  const { url, may_be_local, timeout_ms, most_bytes, signal } = posting;
  // An address in the URL is not looked up.
  const target = may_be_local ? undefined : localTargetOf(URL.parse(url)?.hostname ?? '');
  if (target !== undefined) throw new OutboundError(localTexts[target]);
  const time = AbortSignal.timeout(timeout_ms);
  try {
    const response = await responseTo(posting, signal ? AbortSignal.any([signal, time]) : time);
    return { status: response.statusCode ?? 0, headers: headersOf(response), body: await textOf(response, most_bytes) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OutboundError) throw error;
    throw new OutboundError(time.aborted ? `No response within ${timeout_ms / 1000} seconds` : reasonOf(error));
  }
}
