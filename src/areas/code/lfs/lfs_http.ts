/** Git LFS over HTTP: the batch, the transfers and the locks (repository.md section 8). Files stream; nothing is held in memory. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BlobMismatch } from '../../../blobs/index.ts';
import { isForeignKeyViolation, isUnavailable } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { storeObject } from './actions.ts';
import { answerBatch, operationIn } from './batch_actions.ts';
import { grantLfs, grantUpload, notFound, refusal } from './grant.ts';
import { addLock, listLocks, removeLock, verifyLocks } from './lock_actions.ts';
import { objectOf, readObject } from './queries.ts';
import { isOid, type LfsFile, rangeIn } from './rules.ts';

/** Where the routes live, since a router cannot match a path of any depth in the middle of an address. */
const inside = '/-/lfs';
const address = /^\/(?!api\/|-\/)((?:[^/?]+\/)+[^/?]+)\.git\/(info\/lfs|gitlab-lfs)(\/[^?]*)/;

/**
 * The address under which the server routes a request: that of an LFS client becomes one of ours, any other stays.
 * @param url path and query as they came
 */
export function lfsUrl(url: string): string {
  const [match, path = '', door, rest = ''] = address.exec(url) ?? [];
  if (match === undefined) return url;
  try {
    const place = encodeURIComponent(decodeURIComponent(path));
    return `${inside}/${place}/${door === 'gitlab-lfs' ? 'transfers' : 'api'}${rest}${url.slice(match.length)}`;
  } catch {
    return url;
  }
}

const mediaType = 'application/vnd.git-lfs+json';
/** A batch of the most objects is a sixth of this. */
const bodyLimit_bytes = 1024 * 1024;
const outdated = 'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.';

interface LfsRequest {
  Params: { path: string; oid: string; size: string; id: string };
  Querystring: Record<string, unknown>;
  Body: Record<string, unknown>;
}

/** As bytes, since Fastify would add a charset to text. */
const sendJson = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply
    .code(status)
    .header('content-type', mediaType)
    .header('cache-control', 'no-store')
    .send(Buffer.from(JSON.stringify(body)));

/** What an error says to the client. */
function answerOf(error: Error & { statusCode?: number; code?: string }): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof BlobMismatch) return refusal(error.what === 'size' ? 422 : 400, 'SHA256 or size mismatch');
  if (isForeignKeyViolation(error)) return notFound(); // The project was removed meanwhile.
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return refusal(507, 'The server has no space left for large files.');
  if (error.statusCode !== undefined && error.statusCode < 500) return refusal(error.statusCode, error.message);
  return isUnavailable(error) ? refusal(503, 'Service Unavailable') : undefined;
}

function answerError(services: Services, error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return reply;
  }
  // What the client still sends is read past, so that it gets to read the reply.
  request.raw.resume();
  const known = answerOf(error);
  if (!known || known.status >= 500) request.log.error({ err: error }, 'an LFS request failed');
  const { status, body, headers } = known ?? refusal(500, 'Internal Server Error');
  return sendJson(reply.headers(headers), status, { ...body, documentation_url: `${services.url}/docs`, request_id: request.id });
}

/** Adds the routes of LFS clients to `app`, whose addresses must pass through `lfsUrl`. */
export async function lfsOverHttp(app: FastifyInstance, services: Services): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: bodyLimit_bytes },
      async (_request: FastifyRequest, body: string) => readBody(body),
    );
    scope.setErrorHandler<Error>((error, request, reply) => answerError(services, error, request, reply));
    addObjects(scope, services);
    addLocks(scope, services);
  });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Left unread: the store reads the body as it comes, and the address says how long it is.
    scope.addContentTypeParser('*', (_request: FastifyRequest, _body: Readable, done: (error: null) => void) => done(null));
    scope.setErrorHandler<Error>((error, request, reply) => answerError(services, error, request, reply));
    addTransfers(scope, services);
  });
}

function readBody(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal(400, 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refusal(422, 'The body is not an object.');
  return value as Record<string, unknown>;
}

function addObjects(app: FastifyInstance, services: Services): void {
  const objects = `${inside}/:path/api/objects`;
  app.post<LfsRequest>(`${objects}/batch`, async (request, reply) => {
    const { params, body = {} } = request;
    const granted = await grantLfs(services, request, { path: params.path, operation: operationIn(body) });
    return sendJson(reply, 200, await answerBatch(services, granted, body));
  });
  app.post<LfsRequest>(`${objects}/verify`, async (request, reply) => {
    const { project } = await grantUpload(services, request, { path: request.params.path, isTransfer: true });
    const { oid, size } = request.body ?? {};
    const object = typeof oid === 'string' && isOid(oid) ? await objectOf(services.db, project.id, oid) : undefined;
    if (!object || object.size !== size) throw notFound();
    return sendJson(reply, 200, object);
  });
  app.post(objects, async () => Promise.reject(refusal(501, outdated)));
  app.get(objects, async () => Promise.reject(refusal(501, outdated)));
  app.get(`${objects}/:oid`, async () => Promise.reject(refusal(501, outdated)));
}

function addLocks(app: FastifyInstance, services: Services): void {
  const locks = `${inside}/:path/api/locks`;
  app.get<LfsRequest>(locks, async (request, reply) => {
    const { project } = await grantLfs(services, request, { path: request.params.path, operation: 'download' });
    return sendJson(reply, 200, await listLocks(services.db, project, request.query));
  });
  app.post<LfsRequest>(locks, async (request, reply) => {
    const granted = await grantUpload(services, request, request.params);
    return sendJson(reply, 201, { lock: await addLock(services.db, granted, request.body?.path) });
  });
  app.post<LfsRequest>(`${locks}/verify`, async (request, reply) => {
    const granted = await grantUpload(services, request, request.params);
    return sendJson(reply, 200, await verifyLocks(services.db, granted, request.body ?? {}));
  });
  app.post<LfsRequest>(`${locks}/:id/unlock`, async (request, reply) => {
    const granted = await grantUpload(services, request, request.params);
    const lock = await removeLock(services.db, granted, { id: request.params.id, force: request.body?.force === true });
    return sendJson(reply, 200, { lock });
  });
}

/** @throws ApiError 400 for what is no digest or size, or when the client announces another length than its address says */
function announcedIn({ params, headers }: FastifyRequest<LfsRequest>): LfsFile {
  const { oid, size } = params;
  if (!isOid(oid) || !/^\d{1,15}$/.test(size)) throw refusal(400, 'An object has a SHA-256 in lower case and a size in bytes.');
  const length = headers['content-length'];
  if (length !== undefined && length !== size) throw new BlobMismatch('size');
  return { oid, size: Number(size) };
}

function addTransfers(app: FastifyInstance, services: Services): void {
  const object = `${inside}/:path/transfers/objects/:oid`;
  app.get<LfsRequest>(object, { exposeHeadRoute: false }, async (request, reply) => {
    const { path, oid } = request.params;
    const { project } = await grantLfs(services, request, { path, operation: 'download', isTransfer: true });
    const found = isOid(oid) ? await objectOf(services.db, project.id, oid) : undefined;
    if (!found) throw notFound();
    return sendObject(services, found, request, reply);
  });
  app.put<LfsRequest>(`${object}/:size`, async (request, reply) => {
    const { project } = await grantUpload(services, request, { path: request.params.path, isTransfer: true });
    await storeObject(services, project.id, announcedIn(request), request.raw);
    return reply.code(200).send();
  });
}

async function sendObject(
  services: Services,
  object: LfsFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const range = rangeIn(request.headers.range, object.size);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${object.size}`);
    throw refusal(416, 'Range Not Satisfiable');
  }
  const stream = await readObject(services, object, range);
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-length': String(range ? range.end - range.start + 1 : object.size),
  });
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${object.size}`);
  return reply.send(stream);
}
