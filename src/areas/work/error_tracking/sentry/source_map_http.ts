/** Endpoints with which Sentry clients upload source maps (docs/reference/error_tracking.md#source-maps). */
import type { Readable } from 'node:stream';
import { levels } from '../../../../access/index.ts';
import { badRequest, type Doorway, forbidden, readParts, streamOf, tooLarge } from '../../../../http/index.ts';
import { assemble } from '../source_maps/bundle_actions.ts';
import { chunk_bytes, storeChunk } from '../source_maps/chunk_actions.ts';
import { bundle_bytes } from '../source_maps/jobs.ts';
import { answer, at, callerIn, projectsIn, type SentryCall, sentryForm, textIn } from './access.ts';
import { hasTrackedProject } from './queries.ts';
import { versionNamed } from './release_http.ts';

const chunks_in_request = 4;
const request_bytes = chunks_in_request * chunk_bytes + 2 ** 20;
/** Incompressible data becomes slightly larger when compressed. */
const maximumSent_bytes = chunk_bytes + 2 ** 16;
const maximumDist = 64;
const checksumPattern = /^[0-9a-f]{40}$/;

/** @throws ApiError 401, 403 for callers without a project in the organization for which they could upload */
async function checkUploader(call: SentryCall) {
  const caller = callerIn(call);
  const { org = '' } = call.request.params;
  if (!(await hasTrackedProject(call.services.db, caller, org, levels.developer))) throw forbidden();
  return caller;
}

/** The limits for clients, and the URL for chunks. */
async function showOptions(call: SentryCall) {
  await checkUploader(call);
  const { services, request } = call;
  return answer(call, {
    url: `${services.url}/api/0/organizations/${encodeURIComponent(request.params.org ?? '')}/chunk-upload/`,
    chunkSize: chunk_bytes,
    chunksPerRequest: chunks_in_request,
    maxRequestSize: request_bytes,
    maxFileSize: bundle_bytes,
    concurrency: 2,
    hashAlgorithm: 'sha1',
    compression: ['gzip'],
    accept: ['artifact_bundles', 'artifact_bundles_v2', 'sources', 'release_files'],
  });
}

/** @throws ApiError 413 if it is longer than a chunk may be */
async function bytesOf(file: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size_bytes = 0;
  for await (const part of file as AsyncIterable<Buffer>) {
    size_bytes += part.length;
    // A chunk that is too long is still read to its end, because the body parser waits for that.
    if (size_bytes <= maximumSent_bytes) parts.push(part);
  }
  if (size_bytes > maximumSent_bytes) throw tooLarge();
  return Buffer.concat(parts);
}

async function takeChunks(call: SentryCall) {
  const caller = await checkUploader(call);
  const { services, request } = call;
  const sent: { checksum: string; sent: Buffer; isZipped: boolean }[] = [];
  await readParts(request.headers, streamOf(request), {
    at_most_bytes: request_bytes,
    async onFile(name, file, filename = '') {
      if (name !== 'file' && name !== 'file_gzip') return;
      const bytes = await bytesOf(file);
      if (!checksumPattern.test(filename)) throw badRequest('the name of a chunk must be its SHA-1');
      sent.push({ checksum: filename, sent: bytes, isZipped: name === 'file_gzip' });
    },
  });
  for (const chunk of sent) await storeChunk(services, caller, chunk);
  return answer(call, {});
}

/** @throws ApiError 400 unless these are checksums of a bundle within its limit */
function checksumsIn({ fields: { checksum, chunks } }: SentryCall): { checksum: string; chunks: string[] } {
  const isChecksum = (value: unknown): value is string => typeof value === 'string' && checksumPattern.test(value);
  const maximum = Math.ceil(bundle_bytes / chunk_bytes);
  if (!isChecksum(checksum) || !Array.isArray(chunks) || !chunks.every(isChecksum) || chunks.length === 0)
    throw badRequest('checksum and chunks must be SHA-1');
  if (chunks.length > maximum) throw badRequest(`a bundle has at most ${maximum} chunks`);
  return { checksum, chunks };
}

async function assembleBundle(call: SentryCall) {
  const [caller, projects] = [callerIn(call), await projectsIn(call)];
  const { version, dist } = call.fields;
  const named = version === undefined || version === null ? undefined : versionNamed(version);
  const asked = { ...checksumsIn(call), version: named, dist: textIn(dist).slice(0, maximumDist) };
  return answer(call, await assemble(call.services.db, caller, projects, asked));
}

export const bundleDoors = [
  at('GET', '/organizations/:org/chunk-upload', showOptions),
  at('POST', '/organizations/:org/artifactbundle/assemble', assembleBundle),
];

/** Chunks are read as a stream. */
export const chunkDoorway: Doorway = {
  cost: 'upload',
  doors: [at('POST', '/organizations/:org/chunk-upload', takeChunks)],
  errors: () => sentryForm,
  bodies: 'stream',
};
