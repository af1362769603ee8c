/** Opens requests to other systems, whose URLs users give: an address of the local network is refused at every connection. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { localTargetOf, localTexts } from './addresses.ts';

/** There was no response. The message is a sentence for the person who gave the URL. */
export class OutboundError extends Error {
  override name = 'OutboundError';
}

/** The address is not allowed. The message gives the reason. */
export class BlockedError extends OutboundError {
  override name = 'BlockedError';
}

/** The remote system sent more than the limit. */
export class ResponseTooLong extends OutboundError {
  override name = 'ResponseTooLong';

  constructor(most_bytes: number) {
    super(`The response is longer than ${most_bytes} bytes`);
  }
}

export interface Opening {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer | Readable | undefined;
  /** Whether the certificate of the other system must be valid. */
  verifies_tls: boolean;
  /** Whether the settings of the server allow addresses of the local network. */
  may_be_local: boolean;
}

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves a name and refuses it when any of its addresses is local: which one is used is not known here. */
export function guardedLookup(host: string, options: LookupOptions, answer: Answer): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return answer(error, '');
    const target = addresses.map(({ address }) => localTargetOf(address)).find((found) => found !== undefined);
    if (target !== undefined) return answer(new BlockedError(localTexts[target]), '');
    const [first] = addresses;
    return options.all || !first ? answer(null, addresses) : answer(null, first.address, first.family);
  });
}

/**
 * Sends a request and waits for the head of the response.
 * @throws BlockedError, and the errors of the connection, which `reasonOf` puts into words
 */
export async function open(
  { method, url: text, headers, body, verifies_tls, may_be_local }: Opening,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(text);
  // An address in the URL is not looked up.
  const target = may_be_local ? undefined : localTargetOf(url.hostname);
  if (target !== undefined) throw new BlockedError(localTexts[target]);
  const start = url.protocol === 'https:' ? requestSecure : requestPlain;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { method, headers, agent: false, signal, rejectUnauthorized: verifies_tls };
  const request = start(url, may_be_local ? options : { ...options, lookup: guardedLookup });
  request.on('response', resolve);
  request.on('error', reject);
  // What fails on the way ends the request with it.
  if (body instanceof Readable) pipeline(body, request, () => {});
  else request.end(body);
  return promise;
}

export const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

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

/** The reason of a connection error, as a sentence. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = distrust.get(code ?? '');
  if (reason !== undefined) return `The certificate is not trusted: ${reason}`;
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
};
