/**
 * The downloads of a primary for its secondaries: repositories over git's protocol, and blobs
 * (docs/reference/geo.md#protocol).
 */
import { access, constants } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type BlobKey, pathOfBlob } from '../../../blobs/index.ts';
import { advertiseRefs, headBranch, type Repository, repositoryOf, uploadPack } from '../../../git/index.ts';
import { ApiError, badRequest, fileReply, notFound, type Services } from '../../../http/index.ts';
import { goneSignal, sendPack } from '../../code/repository/index.ts';
import { type AnyGeoRoute, type GeoCall, geoRoute } from '../link/definition.ts';
import { kindOf } from './checking_actions.ts';
import { fileReplicableOf, isRepository, type Replicable } from './definition.ts';
import { reasonOfFailure } from './rules.ts';

/** A secondary sends the refs that it has, which may be many. */
const maximumRequest_bytes = 64 * 1024 * 1024;
const maximumUnzipped_bytes = 256 * 1024 * 1024;

interface Named {
  /** The kind of repository, without `_repositories`. */
  kind: string;
  id: string;
}

/** @throws ApiError 404 if there is no such repository, 422 if it cannot be read */
async function repositoryNamed(services: Services, { kind: name, id }: Named): Promise<Repository> {
  const replicable = `${name}_repositories` as Replicable;
  if (!isRepository(replicable) || !/^[1-9]\d{0,15}$/.test(id)) throw notFound('Repository');
  const kind = kindOf(services, replicable);
  const owner = await kind.find(services.db, Number(id));
  if (!owner) throw notFound('Repository');
  const repository = repositoryOf(services, { id: owner.id, storage: owner.storage, folder: kind.folder });
  try {
    await access(repository.path, constants.R_OK);
    await headBranch(repository);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notFound('Repository');
    throw new ApiError(422, { message: `422 Unprocessable - ${reasonOfFailure(error)}` });
  }
  return repository;
}

/** A secondary may run as many git processes as its node allows, which is more than a client may run. */
const transportOf = ({ node, request, reply }: Pick<GeoCall, 'node' | 'request' | 'reply'>) => ({
  client: `geo:${node.id}:${request.id}`,
  protocol: 'version=2',
  signal: goneSignal(reply),
});

const place = '/repositories/:kind/:id';

const advertisement = geoRoute<Named>({
  method: 'GET',
  path: `${place}/info/refs`,
  handle: async (call) => {
    const repository = await repositoryNamed(call.services, call.request.params);
    const advertised = advertiseRefs(repository, 'git-upload-pack', transportOf(call));
    return sendPack(call.reply, 'git-upload-pack-advertisement', advertised);
  },
});

const unzipped = promisify(gunzip);

async function requestIn(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding === undefined) return body;
  return await unzipped(body, { maxOutputLength: maximumUnzipped_bytes }).catch(() => {
    throw badRequest('The body is not compressed as it says.');
  });
}

const uploading = geoRoute<Named>({
  method: 'POST',
  path: `${place}/git-upload-pack`,
  most_bytes: maximumRequest_bytes,
  handle: async (call) => {
    const { services, request, reply, body } = call;
    const repository = await repositoryNamed(services, request.params);
    const asked = await requestIn(body, request.headers['content-encoding']);
    const input = Readable.from([asked]);
    return sendPack(
      reply,
      'git-upload-pack-result',
      uploadPack(repository, { ...transportOf(call), input, sees: 'all' }),
    );
  },
});

function keyIn(text: string): BlobKey {
  try {
    pathOfBlob(text);
    return text as BlobKey;
  } catch {
    throw notFound('Blob');
  }
}

const download = geoRoute<{ key: string }>({
  method: 'GET',
  path: '/blobs/:key',
  handle: async ({ services: { db, blobs }, request, reply }) => {
    const key = keyIn(request.params.key);
    const stored = await blobs.stat(key);
    if (!stored) throw notFound('Blob');
    const known = await db
      .selectFrom('geo_checksums')
      .select('checksum')
      .where('replicable', '=', fileReplicableOf(key))
      .where('record', '=', key)
      .executeTakeFirst();
    const etag = known?.checksum ?? undefined;
    const file = { key, size_bytes: stored.size_bytes, ...(etag === undefined ? {} : { etag }) };
    const { status, headers, body } = await fileReply(blobs, file, request.headers, {
      'content-type': 'application/octet-stream',
    });
    return reply.code(status).headers(headers).send(body);
  },
});

export const replicaRoutes: readonly AnyGeoRoute[] = [advertisement, uploading, download];
