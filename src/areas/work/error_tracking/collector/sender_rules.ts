/** Extracts the client key of a request of an SDK, and its encoding. */
import type { IncomingHttpHeaders } from 'node:http';
import { Malformed } from './envelope_rules.ts';

const scheme = /^sentry\s+/i;
const publicKey = /^\w{1,128}$/;

/** The key in `Sentry sentry_version=7, sentry_key=…`. */
function keyInHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string' || !scheme.test(value)) return undefined;
  const pairs = value
    .replace(scheme, '')
    .split(',')
    .map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === 'sentry_key')?.[1];
}

/**
 * The public key that authenticates a request.
 * @returns undefined if there is none; it may then be in the envelope
 * @throws Malformed for two different keys, or an invalid key
 */
export function keyIn(headers: IncomingHttpHeaders, query: Readonly<Record<string, unknown>>): string | undefined {
  const { sentry_key } = query;
  const inQuery = sentry_key === undefined ? undefined : typeof sentry_key === 'string' ? sentry_key : '';
  const given = [keyInHeader(headers['x-sentry-auth']), keyInHeader(headers.authorization), inQuery].filter(
    (key) => key !== undefined,
  );
  if (new Set(given).size > 1 || given.some((key) => !publicKey.test(key))) throw new Malformed();
  return given[0];
}

/**
 * The public key in a DSN.
 * @throws Malformed if there is none
 */
export function keyInDsn(dsn: string): string {
  const { username } = URL.parse(dsn) ?? {};
  if (username === undefined || !publicKey.test(username)) throw new Malformed();
  return username;
}
