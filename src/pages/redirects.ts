/** Where replies lead a browser. Redirects are built from parameters, and `//host` or `/\host` in `Location` is another server. */
import type { FastifyReply } from 'fastify';
import { locationOf, notFound } from '../http/index.ts';

/** A path of this server with its query, as it is written in an address; undefined for anything else. */
const pathHere = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(value) ? locationOf(value) : undefined;

/** The path of a page on this server, to go on to; anything else leads to the first page. */
export const ownPath = (value: unknown): string => pathHere(value) ?? '/';

/**
 * Sends a browser on.
 * @param to a path of this server, or a `URL` that is meant to lead elsewhere
 * @throws ApiError 404 for a text that is no path of this server
 */
export function leadTo(reply: FastifyReply, to: string | URL, status: 301 | 302 | 303): FastifyReply {
  const location = to instanceof URL ? locationOf(to.href) : pathHere(to);
  if (location === undefined) throw notFound('Page');
  return reply.redirect(location, status);
}

/**
 * An address with the current path of a project or group that has moved. A browser may have encoded the old path in any way.
 * @param url as it was asked for, with its query
 * @param old the path that the address names, decoded
 * @param present the path that it has now, as in an address
 * @throws ApiError 404 when the address does not name the old path
 */
export function addressAfterMove(url: string, old: string, present: string): string {
  const [path = ''] = url.split('?', 1);
  const segments = path.split('/');
  const decoded = segments.map(decodeURIComponent);
  const most = old.split('/').length; // fewer when slashes are encoded, too
  for (let start = 1; start < segments.length; start++)
    for (let end = start + 1; end <= Math.min(start + most, segments.length); end++)
      if (decoded.slice(start, end).join('/') === old)
        return [...segments.slice(0, start), present, ...segments.slice(end)].join('/') + url.slice(path.length);
  throw notFound('Page');
}
