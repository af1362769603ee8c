/** Transfers large files of mirrors, as a client of the Git LFS batch API. The other server is not trusted. */
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { BlobMismatch } from '../../../blobs/index.ts';
import { newBlobs, type Repository } from '../../../git/index.ts';
import { download, fetchWhole, OutboundError, putTo } from '../../../outbound/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { storeObject } from '../lfs/actions.ts';
import { isLfsEnabled, objectsOf, readObject } from '../lfs/queries.ts';
import { type LfsFile, pointerIn } from '../lfs/rules.ts';
import { Action, headersOf, isOverHttp, jsonIn } from './large_file_rules.ts';
import type { LargeFileApi, LargeFileApiFor } from './reaching_actions.ts';

/** The other server, and the limits of transfers with it. */
export interface LargeFilePlace {
  apiFor: LargeFileApiFor;
  may_be_local: boolean;
  /** In total for a run. */
  most_bytes: number;
  signal: AbortSignal;
}

type Services = Pick<JobServices, 'db' | 'blobs' | 'downloads'>;

const Batch = Type.Object({
  objects: Type.Array(
    Type.Object({
      oid: Type.String(),
      actions: Type.Optional(
        Type.Object({
          download: Type.Optional(Action),
          upload: Type.Optional(Action),
          verify: Type.Optional(Action),
        }),
      ),
    }),
  ),
});
type Actions = NonNullable<Static<typeof Batch>['objects'][number]['actions']>;

const perBatch = 100;
const silence_ms = 60_000;
const maximumReply_bytes = 1024 * 1024;
/** Limits of the search for pointers in small files. Large files beyond them are not transferred. */
const searched = 500_000;
const maximumSearch_ms = 120_000;
const mediaType = 'application/vnd.git-lfs+json';

const fetchingFrom = ({ may_be_local, signal }: LargeFilePlace) => ({
  ...{ may_be_local, signal, silence_ms, verifies_tls: true },
  headers: {},
  secret_headers: {},
});

/**
 * Requests the actions for some large files from the other server.
 * @returns the actions by oid; undefined if the other server does not support LFS, or refuses us
 */
async function actionsFor(
  place: LargeFilePlace,
  { url, secret_headers }: LargeFileApi,
  operation: 'download' | 'upload',
  files: readonly LfsFile[],
): Promise<Map<string, Actions> | undefined> {
  const objects = files.map(({ oid, size }) => ({ oid, size }));
  const request = {
    ...fetchingFrom(place),
    method: 'POST' as const,
    url: `${url}/objects/batch`,
    headers: { accept: mediaType, 'content-type': mediaType },
    secret_headers,
    body: JSON.stringify({ operation, transfers: ['basic'], objects }),
  };
  const { status, body } = await fetchWhole(request, maximumReply_bytes);
  if (status !== 200) return undefined;
  const reply = jsonIn(body.toString('utf8'));
  if (!Check(Batch, reply)) return undefined;
  const asked = new Set(files.map(({ oid }) => oid));
  return new Map(
    reply.objects.flatMap(({ oid, actions }) => (actions && asked.has(oid) ? [[oid, actions] as const] : [])),
  );
}

async function upload(services: Services, place: LargeFilePlace, file: LfsFile, actions: Actions): Promise<void> {
  if (!actions.upload) return;
  if (![actions.upload, actions.verify].every((action) => action === undefined || isOverHttp(action.href)))
    throw new OutboundError('The address for a large file is not allowed');
  const { may_be_local, signal } = place;
  const to = { may_be_local, verifies_tls: true };
  const status = await putTo({
    ...to,
    url: actions.upload.href,
    headers: {
      'content-type': 'application/octet-stream',
      ...headersOf(actions.upload),
      'content-length': String(file.size),
    },
    body: await readObject(services, file),
    signal,
  });
  if (status < 200 || status > 299) throw new OutboundError(`A large file was refused (${status})`);
  if (!actions.verify) return;
  const verified = await fetchWhole(
    {
      ...fetchingFrom(place),
      method: 'POST',
      url: actions.verify.href,
      headers: { accept: mediaType, 'content-type': mediaType, ...headersOf(actions.verify) },
      body: JSON.stringify({ oid: file.oid, size: file.size }),
    },
    maximumReply_bytes,
  );
  if (verified.status !== 200) throw new OutboundError(`A large file was not verified (${verified.status})`);
}

/** A transaction may commit this much later than it began. */
const lookBack = '10 minutes';

/**
 * Sends the large files of a project that the other server lacks.
 * @param since when large files were last sent; null to send all
 * @throws OutboundError if one cannot be sent
 */
export async function sendLargeFiles(
  services: Services,
  project_id: number,
  since: string | null,
  place: LargeFilePlace,
): Promise<void> {
  let api: LargeFileApi | undefined;
  for (let after = 0; ; ) {
    const { rows } = await sql<LfsFile & { id: number }>`
      select lfs_objects.id, oid, size from lfs_objects_projects join lfs_objects on lfs_objects.id = lfs_object_id
       where project_id = ${project_id} and lfs_object_id > ${after}
         and (${since}::timestamptz is null or lfs_objects_projects.created_at > ${since}::timestamptz - ${sql.lit(lookBack)}::interval)
       order by lfs_object_id limit ${perBatch}`.execute(services.db);
    if (rows.length === 0) return;
    after = rows.at(-1)!.id;
    api ??= await place.apiFor('upload');
    const actions = api && (await actionsFor(place, api, 'upload', rows));
    if (!actions) return;
    for (const file of rows) await upload(services, place, file, actions.get(file.oid) ?? {});
  }
}

/** @returns whether the project has the file now */
async function fetchOne(
  services: JobServices,
  project_id: number,
  place: LargeFilePlace,
  file: LfsFile,
  action: Static<typeof Action>,
): Promise<boolean> {
  await mkdir(services.downloads, { recursive: true });
  const local = path.join(services.downloads, `mirror-${project_id}-${file.oid}`);
  const fetching = { ...fetchingFrom(place), method: 'GET' as const, url: action.href, headers: headersOf(action) };
  try {
    const { status } = await download(fetching, {
      ...{ file: local, etag: undefined, most_bytes: file.size },
      onEtag: async () => {},
    });
    if (status !== 200) return false;
    await storeObject(services, project_id, file, createReadStream(local));
    return true;
  } catch (error) {
    place.signal.throwIfAborted();
    if (error instanceof OutboundError || error instanceof BlobMismatch) return false;
    throw error;
  } finally {
    await rm(local, { force: true });
  }
}

interface Fetched {
  project_id: number;
  repository: Repository;
  /** The quarantine with the new commits. */
  quarantine: Repository;
  /** The commits that refs will point to. */
  targets: readonly string[];
}

/**
 * Fetches the large files of new commits that the project lacks.
 * @returns the number of files still missing
 */
export async function fetchLargeFiles(
  services: JobServices,
  { project_id, repository, quarantine, targets }: Fetched,
  place: LargeFilePlace,
): Promise<number> {
  if (targets.length === 0 || !(await isLfsEnabled(services.db, project_id))) return 0;
  const env = {
    GIT_OBJECT_DIRECTORY: path.join(quarantine.path, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(repository.path, 'objects'),
  };
  const limits = { smaller_than_bytes: 1024, limit: searched, timeout_ms: maximumSearch_ms };
  const contents = await newBlobs(repository, { targets, env, ...limits });
  const named = new Map(contents.flatMap((content) => pointerIn(content) ?? []).map((file) => [file.oid, file]));
  const known = new Set((await objectsOf(services.db, project_id, [...named.keys()])).map(({ oid }) => oid));
  const missing = [...named.values()].filter(({ oid }) => !known.has(oid));
  let left = missing.length;
  let left_bytes = place.most_bytes;
  const unlessUnreachable = (error: unknown) => {
    if (error instanceof OutboundError) return undefined;
    throw error;
  };
  const api = left > 0 ? await place.apiFor('download').catch(unlessUnreachable) : undefined;
  for (let at = 0; api && at < missing.length; at += perBatch) {
    const some = missing.slice(at, at + perBatch);
    const actions = await actionsFor(place, api, 'download', some).catch(unlessUnreachable);
    if (!actions) return left;
    for (const file of some) {
      const action = actions.get(file.oid)?.download;
      left_bytes -= file.size;
      if (
        action &&
        isOverHttp(action.href) &&
        left_bytes >= 0 &&
        (await fetchOne(services, project_id, place, file, action))
      )
        left--;
    }
  }
  return left;
}
