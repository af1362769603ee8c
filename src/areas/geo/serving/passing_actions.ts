/**
 * Forwarding a request to the primary with the caller's own credentials. Everything streams
 * (docs/reference/geo.md#what-a-secondary-serves).
 */
import { once } from 'node:events';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { pipeline } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, type Services, streamOf } from '../../../http/index.ts';
import { originFor } from '../../../http/origin.ts';
import { endingAfter } from '../../code/repository/index.ts';
import { signedPassage } from '../link/passage_actions.ts';
import { passedHeaders } from './passing_rules.ts';
import { awaitOwnWrites } from './position_actions.ts';

/** The primary does not respond. */
export class Unreachable extends ApiError {
  constructor() {
    const message = '503 Service Unavailable - The primary site cannot be reached.';
    super(503, { message }, { 'retry-after': '10' });
  }
}

const connecting_ms = 5000;
/** A push that runs hooks, or an upload to storage, may take a while. */
const silence_ms = 600_000;
/** All connections come from one address. */
const maximumSockets = 100;
const agents = {
  'http:': new Agent({ maxSockets: maximumSockets }),
  'https:': new TlsAgent({ maxSockets: maximumSockets }),
};

/** A request that is sent on behalf of a caller. */
interface Sent {
  method: string;
  /** The path with the query. */
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  /** The address of the caller. */
  address: string;
  /** The id of the SSH key that the caller has used. */
  key_id?: number;
}

/**
 * Opens a request on a new connection: a request with a streaming body cannot be retried on another one.
 * @throws Unreachable if the connection fails
 */
export async function open(services: Services, { headers: given, ...passage }: Sent): Promise<ClientRequest> {
  const { method, path, address, key_id } = passage;
  const url = new URL(`${services.geo.primaryUrl}${path}`);
  const headers = {
    ...given,
    ...(key_id !== undefined && { 'x-geo-ssh-key': String(key_id) }),
    'x-forwarded-for': address,
    'x-geo-signature': signedPassage(services, passage),
  };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = send(url, {
    method,
    headers,
    agent: agents[url.protocol as keyof typeof agents],
    timeout: silence_ms,
  });
  outgoing.on('error', () => {}); // callers that wait for the response get the error, too
  outgoing.on('timeout', () => outgoing.destroy(new Error('The primary is silent.')));
  const signal = AbortSignal.timeout(connecting_ms);
  try {
    const [socket] = await once(outgoing, 'socket', { signal });
    if (socket.connecting) await once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect', { signal });
    return outgoing;
  } catch {
    outgoing.destroy();
    throw new Unreachable();
  }
}

function openFor(services: Services, { method, originalUrl, headers, id, ip }: FastifyRequest): Promise<ClientRequest> {
  return open(services, {
    method,
    path: originalUrl,
    headers: { ...passedHeaders(headers), 'x-request-id': id },
    address: ip,
  });
}

const hasBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

async function answerTo(
  outgoing: ClientRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<IncomingMessage> {
  reply.raw.once('close', () => outgoing.destroy());
  if (hasBody(request)) pipeline(streamOf(request), outgoing, () => {});
  else outgoing.end();
  try {
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  } catch {
    throw new Unreachable();
  }
}

/** The number of requests that this process has forwarded. */
export const passing = { count: 0 };

/** Whether the response to a write starts before the write is complete. */
const isPush = ({ originalUrl }: FastifyRequest) => originalUrl.endsWith('/git-receive-pack');
const reads = new Set(['GET', 'HEAD', 'OPTIONS']);
export const isReading = ({ method }: FastifyRequest): boolean => reads.has(method);

/**
 * Forwards a request, and streams the response back. The response to a write is held until the write has been
 * replicated here.
 * @throws Unreachable; if there is no connection, before any of the body is read
 */
export async function pass(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const answer = await answerTo(await openFor(services, request), request, reply);
  passing.count++;
  const { statusCode: status = 502, headers } = answer;
  const arrived = () =>
    awaitOwnWrites(services).catch((error) => request.log.warn({ err: error }, 'a write is not here yet'));
  const writes = !isReading(request) && status < 400;
  if (writes && !isPush(request)) await arrived();
  reply.code(status).headers(passedHeaders(headers));
  // A page loads its styles from the site that the browser has requested.
  const policy = headers['content-security-policy'];
  if (typeof policy === 'string') {
    const { origin } = new URL(services.geo.primaryUrl!);
    reply.header('content-security-policy', policy.replaceAll(origin, originFor(request, services.url)));
  }
  if (headers['x-geo-site'] !== undefined) reply.header('x-geo-served-by', headers['x-geo-site']);
  return reply.send(writes && isPush(request) ? endingAfter(answer, arrived) : answer);
}
