/** How a site handles requests before they are routed. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRefusedWrite } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { checkPassage } from '../link/passage_actions.ts';
import { isCurrent } from './currency_queries.ts';
import { isReading, pass, Unreachable } from './passing_actions.ts';
import { repositoryIn, siteFor } from './passing_rules.ts';

/** Takes the caller's address and SSH key of a forwarded request from the secondary's headers. */
async function takeAddress(services: Services, request: FastifyRequest): Promise<void> {
  const { method, originalUrl, headers } = request;
  const address = headers['x-forwarded-for'];
  if (headers['x-geo-signature'] === undefined || typeof address !== 'string') return;
  const key_id = headers['x-geo-ssh-key'] === undefined ? undefined : Number(headers['x-geo-ssh-key']);
  const signature = String(headers['x-geo-signature']);
  await checkPassage(services, { method, path: originalUrl, address, key_id, signature });
  Object.defineProperty(request, 'ip', { value: address });
  if (key_id !== undefined) request.ssh_key_id = key_id;
}

/** Forwards a read of a copy that is not current to the primary, as long as it responds. */
async function passUnlessCurrent(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const repository = repositoryIn(request.originalUrl.split('?', 1)[0]!);
  if (!repository || (await isCurrent(services.db, repository))) return undefined;
  try {
    return await pass(services, request, reply);
  } catch (error) {
    if (error instanceof Unreachable && !reply.sent) return undefined;
    throw error;
  }
}

async function serveOrPass(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (request.headers['x-geo-signature'] !== undefined) throw new ApiError(508, { message: '508 Loop Detected' });
  switch (siteFor(request.method, request.originalUrl)) {
    case 'own':
      return undefined;
    case 'primary':
      return pass(services, request, reply);
    case 'current':
      return passUnlessCurrent(services, request, reply);
  }
}

/** Names of headers that a site adds to every response, readable for scripts. */
export const siteHeaders = ['X-Geo-Site', 'X-Geo-Served-By'];

const readOnly = 'You cannot perform write operations on a read-only instance';

/**
 * Handles requests at a primary: one that was replaced refuses writes, and any other accepts forwarded requests of a
 * secondary.
 */
async function serveAsPrimary(services: Services, request: FastifyRequest): Promise<void> {
  if (services.geo.successor !== undefined && siteFor(request.method, request.originalUrl) === 'primary')
    throw new ApiError(403, { message: readOnly });
  await takeAddress(services, request);
}

/**
 * Adds the handling of every request: a secondary forwards requests that it does not serve itself, including reads that
 * turn out to write, and a primary takes the caller's address from the secondary. Does nothing if no role is set.
 */
export function serveAsSite(app: FastifyInstance, services: Services): void {
  const { role, nodeName } = services.geo;
  if (role === undefined) return;
  if (role === 'secondary')
    app.decorate('elsewhere', (error, request, reply) =>
      isRefusedWrite(error) && isReading(request) ? pass(services, request, reply) : undefined,
    );
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-geo-site', encodeURI(nodeName));
    return role === 'secondary' ? serveOrPass(services, request, reply) : serveAsPrimary(services, request);
  });
}
