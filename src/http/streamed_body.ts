/** Bodies that a door reads as a stream. */
import { finished, PassThrough, type Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';
import { tooLarge } from './multipart.ts';

/** Leaves bodies of every type to the handler. */
export function streamBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request: FastifyRequest, _body: Readable, done: (error: null) => void) => done(null));
}

/**
 * The body of a request to a door with `bodies: 'stream'`, which is not read before this is called. Until the client has sent it, the request occupies no slot of
 * the queue. The connection stays usable for the reply when reading fails: with an ApiError, 400 when the client breaks it off, 408 when it is too slow.
 */
export function streamOf(request: FastifyRequest): Readable {
  const { raw, slot } = request;
  // Destroying `raw` itself would close the connection.
  const body = new PassThrough();
  body.on('error', () => {}); // It may fail before it is read; its reader gets the error then.
  slot?.pause();
  finished(raw, { writable: false }, (error) => {
    slot?.goOn();
    if (error) body.destroy(new ApiError(400, { message: '400 Bad request' }));
  });
  request.body = body; // for the pace
  return raw.pipe(body);
}

/**
 * The whole body of a request to such a door.
 * @throws ApiError 413 if it is larger than that many bytes, and what reading it throws
 */
export async function wholeBody(request: FastifyRequest, most_bytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length']) > most_bytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of streamOf(request) as AsyncIterable<Buffer>) {
    size_bytes += chunk.length;
    if (size_bytes > most_bytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
