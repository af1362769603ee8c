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
