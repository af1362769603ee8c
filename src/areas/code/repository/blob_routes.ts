/** Blobs: file contents by their git id (docs/reference/repository.md). */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import { codeReader, type Project } from '../../../access/index.ts';
import { findBlob, type Repository, readBlob, repositoryOf, streamBlob } from '../../../git/index.ts';
import { Base64, bytes, found, get, type Headers, head, headersOnly, one, resource, type Services } from '../../../http/index.ts';
import { admitInJson, contentType, contentTypes, sniffed_bytes, uncached } from './content_rules.ts';
import { tooLargeText } from './refusal_rules.ts';

const Blob = resource('Blob', {
  size: Type.Integer({ description: 'In bytes' }),
  encoding: Type.Enum(['base64']),
  content: Base64,
  sha: Type.String(),
});

interface FoundBlob {
  repository: Repository;
  id: string;
  size_bytes: number;
}

async function blobOf(services: Services, project: Project, sha: string): Promise<FoundBlob> {
  const repository = repositoryOf(services, project);
  const id = sha.toLowerCase();
  return { repository, id, size_bytes: found('Blob', await findBlob(repository, id)) };
}

/** Up to this size a blob is read at once, which costs less than a separate process. */
const small_bytes = 256 * 1024;

/** The bytes of a blob, and its first bytes for detecting the media type. */
async function contentOf({ repository, id, size_bytes }: FoundBlob): Promise<{ body: Buffer | Readable; start: Buffer }> {
  if (size_bytes <= small_bytes) {
    const body = await readBlob(repository, id);
    return { body, start: body.subarray(0, sniffed_bytes) };
  }
  const body = streamBlob(repository, id);
  await once(body, 'readable');
  const first: Buffer = body.read() ?? Buffer.alloc(0);
  body.unshift(first);
  return { body, start: first.subarray(0, sniffed_bytes) };
}

const headersOf = ({ size_bytes }: FoundBlob, start: Buffer): Headers => ({
  'content-type': contentType(start),
  'content-length': String(size_bytes),
  'content-disposition': 'inline',
  ...uncached,
});

const Sha = Type.String({ description: 'ID of a blob' });
const rawPath = '/projects/:id/repository/blobs/:sha/raw';
const raw = { access: codeReader, scopes: ['read_repository'], input: { sha: Sha } };

export const blobRoutes = [
  get('/projects/:id/repository/blobs/:sha', {
    operation: 'getBlob',
    summary: 'Get a blob',
    description: 'A project serves at most five blobs above 10 MiB per minute, and none above 128 MiB. `/raw` has no limit.',
    access: codeReader,
    input: { sha: Sha },
    returns: one(Blob),
    refusals: { 404: '404 Blob Not Found', 413: tooLargeText, 429: tooLargeText },
    handle: async ({ project, input, ...services }) => {
      const { repository, id, size_bytes } = await blobOf(services, project, input.sha);
      await admitInJson(services.db, project, size_bytes, rawPath);
      const content = await readBlob(repository, id);
      return { size: size_bytes, encoding: 'base64' as const, content, sha: id };
    },
  }),
  get(rawPath, {
    operation: 'getRawBlob',
    summary: 'Get a raw blob',
    ...raw,
    returns: bytes(contentTypes),
    refusals: { 404: '404 Blob Not Found' },
    handle: async ({ project, input, ...services }) => {
      const blob = await blobOf(services, project, input.sha);
      const { body, start } = await contentOf(blob);
      return { body, headers: headersOf(blob, start) };
    },
  }),
  head(rawPath, {
    operation: 'getRawBlobMetadata',
    summary: 'Get the metadata of a raw blob',
    ...raw,
    returns: headersOnly({}),
    refusals: { 404: '404 Blob Not Found' },
    handle: async ({ project, input, ...services }) => {
      const blob = await blobOf(services, project, input.sha);
      const { body, start } = await contentOf(blob);
      if (!Buffer.isBuffer(body)) body.destroy();
      return headersOf(blob, start);
    },
  }),
];
