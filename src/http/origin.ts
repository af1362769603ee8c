/** The address at which a client reached the server, as far as its headers can be trusted. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';

/** A name or an IPv4 address, or an IPv6 address in brackets; and a port. Anything else could break out of the URL or header that it is written into. */
const plainHost = /^(?:[a-z0-9](?:[\w.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The start of URLs in replies: the address that the client used, because python-gitlab warns about any other.
 * @param url the external address of the server, used if the client sent no plain host
 */
export const originFor = (request: FastifyRequest, url: string): string =>
  plainHost.test(request.host)
    ? `${request.protocol === 'https' ? 'https' : 'http'}://${request.host}`
    : new URL(url).origin;

/** Whether the browser reports that a form is on one of our pages. All browsers have done so since 2023; older ones send the origin of the page. */
export function isFromOurPage({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === origin : site === 'same-origin';
}

const hostsIn = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;

/** Refuses requests with two Host headers, because a proxy may read the other one (RFC 9112, section 3.2). */
export function refuseRepeatedHosts(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    done(hostsIn(raw.rawHeaders) > 1 ? new ApiError(400, { message: '400 Bad request' }) : undefined);
  });
}
