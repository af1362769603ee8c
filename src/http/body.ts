/** Reads request bodies in every form that clients send (docs/api.md). */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse as parseJson } from 'secure-json-parse';
import { ApiError, badParams } from './errors.ts';
import { readForm, type Values } from './form.ts';
import { mismatch, readParts } from './multipart.ts';
import { type TakesFile, UnreadForm } from './upload.ts';

function readJson(text: string): Values {
  // Several clients send `Content-Type: application/json` without a body.
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw badParams(mismatch);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badParams(mismatch);
  return value as Values;
}

/** Reads the text fields of a multipart body, and skips its files. */
function readMultipart(request: FastifyRequest, payload: Readable): Promise<Values> {
  return readParts(request.headers, payload, (_name, file) => {
    file.resume();
  });
}

/** Teaches the server the forms of a body; any other content type with a body is refused with 415. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const text = { parseAs: 'string' } as const;
  app.addContentTypeParser(/^application\/(json|[^;]*\+json)/, text, async (_request: FastifyRequest, body: string) =>
    readJson(body),
  );
  app.addContentTypeParser('application/x-www-form-urlencoded', text, async (_request: FastifyRequest, body: string) =>
    readForm(body),
  );
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) => {
    const { file } = request.routeOptions.config as TakesFile;
    // Unauthorized callers must not fill the disk, so a file is only read after access is granted.
    return file ? new UnreadForm(request.headers, payload, file) : readMultipart(request, payload);
  });
  app.addContentTypeParser('*', text, async (request: FastifyRequest, body: string) => {
    if (body.length === 0) return {};
    const type = request.headers['content-type'] ?? '';
    const refusal = `The provided content-type '${type}' is not supported.`;
    throw new ApiError(415, { message: refusal, error: refusal });
  });
}

/** Leaves bodies of every type to the handler, which reads them as they come. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request: FastifyRequest, _body: Readable, done: (error: null) => void) => done(null));
}
