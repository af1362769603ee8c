/** Git LFS over HTTP: batch, transfers and locks (docs/reference/lfs.md). Files are streamed; nothing is buffered in memory. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BlobMismatch } from '../../../blobs/index.ts';
import { isForeignKeyViolation } from '../../../db/index.ts';
import {
  ApiError,
  type Door,
  type Doorway,
  type ErrorForm,
  fileReply,
  messageOf,
  type Reading,
  type Services,
  streamOf,
  type Values,
} from '../../../http/index.ts';
import { grantLfs, grantUpload, type LfsCaller, lfsCaller, notFound, refusal, transferCaller } from './access.ts';
import { storeObject } from './actions.ts';
import { answerBatch, operationIn } from './batch_actions.ts';
import { addLock, listLocks, removeLock, verifyLocks } from './lock_actions.ts';
import { blobOf, objectOf } from './queries.ts';
import { isOid, type LfsFile } from './rules.ts';

/** The prefix of the routes, because the router cannot match a path of any depth in the middle of a URL. */
const inside = '/-/lfs';
const address = /^\/(?!api\/|-\/)((?:[^/?]+\/)+[^/?]+)\.git\/(info\/lfs|gitlab-lfs)(\/[^?]*)/;

/**
 * The URL under which the server routes a request: that of an LFS client is rewritten, any other stays.
 * @param url path and query as received
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
/** The longest batch takes a sixth of this. */
const bodyLimit_bytes = 1024 * 1024;
const outdated = 'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.';

interface LfsRequest {
  Params: { path: string; oid: string; size: string; id: string };
  Querystring: Record<string, unknown>;
}
type LfsDoor = Door<LfsCaller, LfsRequest>;

/** As bytes, because Fastify would add a charset to text. */
const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply
    .header('content-type', mediaType)
    .header('cache-control', 'no-store')
    .send(Buffer.from(JSON.stringify(body)));

/** Maps an error to the reply. */
function meaningOf(error: Error & { statusCode?: number | undefined; code?: string }): ApiError | undefined {
  if (error instanceof ApiError) return undefined;
  if (error instanceof BlobMismatch) return refusal(error.what === 'size' ? 422 : 400, 'SHA256 or size mismatch');
  if (isForeignKeyViolation(error)) return notFound(); // The project was deleted meanwhile.
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return refusal(507, 'The server has no space left for large files.');
  return error.statusCode !== undefined && error.statusCode < 500
    ? refusal(error.statusCode, error.message)
    : undefined;
}

/** An LFS error: JSON with the request id, by which an operator finds the request in the log. */
const lfsForm = ({ url }: Services): ErrorForm => ({
  meaningOf,
  write(given, request, reply) {
    return sendJson(reply, {
      ...given.body,
      message: messageOf(given),
      documentation_url: `${url}/docs`,
      request_id: request.id,
    });
  },
});

function readBody(text: string): Values {
  if (text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal(400, 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refusal(422, 'The body is not an object.');
  return value as Values;
}

const storing = lfsCaller<LfsRequest>(() => 'upload');
const fetching = lfsCaller<LfsRequest>(() => 'download');

const objects = `${inside}/:path/api/objects`;
const gone = (method: 'GET' | 'POST', url: string): LfsDoor => ({
  method,
  url,
  handle: () => Promise.reject(refusal(501, outdated)),
});

const objectDoors: LfsDoor[] = [
  {
    method: 'POST',
    url: `${objects}/batch`,
    who: lfsCaller(operationIn),
    handle: async ({ services, caller, fields, request: { params }, reply }) => {
      const granted = await grantLfs(services, caller, { path: params.path, operation: operationIn(fields) });
      return sendJson(reply, await answerBatch(services, granted, fields));
    },
  },
  {
    method: 'POST',
    url: `${objects}/verify`,
    who: transferCaller('upload'),
    handle: async ({ services, caller, fields, request: { params }, reply }) => {
      const { project } = await grantUpload(services, caller, params.path);
      const { oid, size } = fields;
      const object = typeof oid === 'string' && isOid(oid) ? await objectOf(services.db, project.id, oid) : undefined;
      if (!object || object.size !== size) throw notFound();
      return sendJson(reply, object);
    },
  },
  gone('POST', objects),
  gone('GET', objects),
  gone('GET', `${objects}/:oid`),
];

const locks = `${inside}/:path/api/locks`;

const lockDoors: LfsDoor[] = [
  {
    method: 'GET',
    url: locks,
    who: fetching,
    handle: async ({ services, caller, request, reply }) => {
      const { project } = await grantLfs(services, caller, { path: request.params.path, operation: 'download' });
      return sendJson(reply, await listLocks(services.db, project, request.query));
    },
  },
  {
    method: 'POST',
    url: locks,
    who: storing,
    handle: async ({ services, caller, fields, request, reply }) => {
      const granted = await grantUpload(services, caller, request.params.path);
      return sendJson(reply.code(201), { lock: await addLock(services.db, granted, fields.path) });
    },
  },
  {
    method: 'POST',
    url: `${locks}/verify`,
    who: storing,
    handle: async ({ services, caller, fields, request, reply }) => {
      const granted = await grantUpload(services, caller, request.params.path);
      return sendJson(reply, await verifyLocks(services.db, granted, fields));
    },
  },
  {
    method: 'POST',
    url: `${locks}/:id/unlock`,
    who: storing,
    handle: async ({ services, caller, fields, request: { params }, reply }) => {
      const granted = await grantUpload(services, caller, params.path);
      return sendJson(reply, {
        lock: await removeLock(services.db, granted, { id: params.id, force: fields.force === true }),
      });
    },
  },
];

/** @throws ApiError 400 for an invalid digest or size, or when the Content-Length differs from the size in the URL */
function announcedIn({ params, headers }: FastifyRequest<LfsRequest>): LfsFile {
  const { oid, size } = params;
  if (!isOid(oid) || !/^\d{1,15}$/.test(size))
    throw refusal(400, 'An object has a SHA-256 in lower case and a size in bytes.');
  const length = headers['content-length'];
  if (length !== undefined && length !== size) throw new BlobMismatch('size');
  return { oid, size: Number(size) };
}

const object = `${inside}/:path/transfers/objects/:oid`;

const transferDoors: LfsDoor[] = [
  {
    method: 'GET',
    url: object,
    who: transferCaller('download'),
    without_head: true,
    handle: async ({ services, caller, request, reply }) => {
      const { path, oid } = request.params;
      const { project } = await grantLfs(services, caller, { path, operation: 'download' });
      const found = isOid(oid) ? await objectOf(services.db, project.id, oid) : undefined;
      if (!found) throw notFound();
      return sendObject(services, found, request, reply);
    },
  },
  {
    method: 'PUT',
    url: `${object}/:size`,
    cost: 'transfer',
    who: transferCaller('upload'),
    handle: async ({ services, caller, request, reply }) => {
      const { project } = await grantUpload(services, caller, request.params.path);
      await storeObject(services, project.id, announcedIn(request), streamOf(request));
      return reply.code(200).send();
    },
  },
];

async function sendObject(
  services: Services,
  object: LfsFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { status, headers, body } = await fileReply(
    services.blobs,
    { key: blobOf(object.oid), size_bytes: object.size },
    request.headers as Reading,
    {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'cache-control': 'private, no-store',
    },
  );
  return reply.code(status).headers(headers).send(body);
}

/** The routes for LFS clients. Request URLs must pass through `lfsUrl`. */
export const lfsDoorways: readonly Doorway[] = [
  {
    cost: 'git',
    doors: [...objectDoors, ...lockDoors],
    errors: lfsForm,
    bodies: { at_most_bytes: bodyLimit_bytes, parse: readBody },
  },
  // The body of a transfer is streamed, and its URL contains the length.
  { cost: 'git', doors: transferDoors, errors: lfsForm, bodies: 'stream' },
];
