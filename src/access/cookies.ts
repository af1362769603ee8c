/** The cookies of this server. Over HTTPS, browsers accept them from this host only and never send them unencrypted (docs/reference/sessions.md#the-cookie). */
import type { FastifyRequest } from 'fastify';

const isSecure = (url: string): boolean => url.startsWith('https:');

/** The name that browsers know a cookie by. @param url the external address of the server */
const cookieNameFor = (url: string, name: string): string => (isSecure(url) ? `__Host-${name}` : name);

/** The value of a cookie of a request; undefined without one. */
export function cookieOf({ headers }: Pick<FastifyRequest, 'headers'>, url: string, name: string): string | undefined {
  const start = `${cookieNameFor(url, name)}=`;
  const pair = headers.cookie?.split(';').find((text) => text.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/**
 * The `Set-Cookie` of a cookie that scripts cannot read.
 * @param lasts_s for how many seconds; by default until the browser is closed, and with 0 it is deleted
 */
export const cookieWith = (url: string, name: string, value: string, lasts_s?: number): string =>
  `${cookieNameFor(url, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure(url) ? '; Secure' : ''}${
    lasts_s === undefined ? '' : `; Max-Age=${lasts_s}`
  }`;
