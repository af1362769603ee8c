/** Blobs: file contents by their git id (docs/reference/repository.md). */
import { Type } from 'typebox';
import { codeReader, type Project } from '../../../../access/index.ts';
import { findBlob, readBlob, repositoryOf } from '../../../../git/index.ts';
import { Base64, bytes, found, get, head, headersOnly, one, resource, type Services } from '../../../../http/index.ts';
import { tooLargeText } from '../push_checks/refusal_rules.ts';
import { contentOf, type FoundBlob, headersOf } from './blob_present.ts';
import { contentTypes } from './content_rules.ts';
import { admitInJson } from './size_checks.ts';

const Blob = resource('Blob', {
  size: Type.Integer({ description: 'In bytes' }),
  encoding: Type.Enum(['base64']),
  content: Base64,
  sha: Type.String(),
});

async function blobOf(services: Services, project: Project, sha: string): Promise<FoundBlob> {
  const repository = repositoryOf(services, project);
  const id = sha.toLowerCase();
  return { repository, id, size_bytes: found('Blob', await findBlob(repository, id)) };
}

const Sha = Type.String({ description: 'ID of a blob' });
const rawPath = '/projects/:id/repository/blobs/:sha/raw';
const raw = { access: codeReader, scopes: ['read_repository'], input: { sha: Sha } };

export const blobRoutes = [
  get('/projects/:id/repository/blobs/:sha', {
    operation: 'getBlob',
    summary: 'Get a blob',
    description:
      'A project serves at most five blobs above 10 MiB per minute, and none above 128 MiB. `/raw` has no limit.',
    access: codeReader,
    input: { sha: Sha },
    returns: one(Blob),
    refusals: { 404: '404 Blob Not Found', 413: tooLargeText, 429: tooLargeText },
    handle: async ({ project, input, ...services }) => {
      const { repository, id, size_bytes } = await blobOf(services, project, input.sha);
      await admitInJson(services.db, `project:${project.id}`, size_bytes, rawPath);
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
      return { body, headers: headersOf(blob, start, 'inline') };
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
      return headersOf(blob, start, 'inline');
    },
  }),
];
