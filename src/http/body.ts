/** Reads request bodies of every form that clients send (conventions.md section 7, clients.md section 2). */
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse as parseJson } from 'secure-json-parse';
import { ApiError, badParams } from './errors.ts';
import { nest, readForm, type Values } from './form.ts';

const mismatch = 'message body does not match declared format';

function readJson(text: string): Values {
  // Several clients say application/json and send nothing.
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

/** Text fields of a multipart body. Files are read past: no endpoint takes one yet. */
function readMultipart(request: FastifyRequest, payload: NodeJS.ReadableStream): Promise<Values> {
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = [];
    const refuse = () => reject(badParams(mismatch));
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: request.headers as { 'content-type': string },
        limits: { fields: 4096, fieldSize: 64 * 1024 * 1024 },
      });
    } catch {
      payload.resume();
      return refuse();
    }
    parser.on('field', (name, value, isNameCut, isValueCut) => {
      if (isNameCut || isValueCut) refuse();
      else pairs.push([name, value]);
    });
    parser.on('file', (_name, file) => file.resume());
    parser.on('error', refuse);
    parser.on('finish', () => {
      try {
        resolve(nest(pairs));
      } catch (error) {
        reject(error);
      }
    });
    payload.on('error', reject);
    payload.pipe(parser);
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
  app.addContentTypeParser('multipart/form-data', (request: FastifyRequest, payload: NodeJS.ReadableStream) =>
    readMultipart(request, payload),
  );
  app.addContentTypeParser('*', text, async (request: FastifyRequest, body: string) => {
    if (body.length === 0) return {};
    const type = request.headers['content-type'] ?? '';
    const refusal = `The provided content-type '${type}' is not supported.`;
    throw new ApiError(415, { message: refusal, error: refusal });
  });
}
