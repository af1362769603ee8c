/** Replies to refusals and failures: decided in one place for all requests, and written in the form that clients expect. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { BlobStoreError } from '../blobs/index.ts';
import { isUnavailable, refusedByMove } from '../db/index.ts';
import { TooMuchWaiting } from '../foundation/fair_threads.ts';
import { NoPlace } from '../foundation/places.ts';
import { ApiError, textOf, tooBusy } from './errors.ts';
import { isFull } from './outage.ts';

/** The form of refusals that the clients of a door expect. */
export interface ErrorForm {
  /** Translates errors that only this door knows. */
  meaningOf?(error: FastifyError, request: FastifyRequest): ApiError | undefined;
  /** Writes the body. Status and headers are set already. */
  write(refusal: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** refusals by the HTTP server, in the form of docs/api.md */
const texts: Record<number, string> = {
  400: '400 Bad request',
  408: '408 Request Timeout',
  413: '413 Request Entity Too Large',
  414: '414 URI Too Long',
  431: '431 Request Header Fields Too Large',
};

/** The error code when the process that starts git has ended (src/git/launcher.ts). The next request starts another one. */
const lostCode = 'GIT_LOST';

/** Names the missing service, without its address: everybody may read the reply. */
const away = (sentence?: string) =>
  new ApiError(
    503,
    { message: `503 Service Unavailable${sentence === undefined ? '' : ` - ${sentence}`}` },
    { 'retry-after': '5' },
  );

function meaningOf(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error;
  const { statusCode = 500, message } = error;
  if (refusedByMove(error) !== undefined) return new ApiError(403, { message: `403 Forbidden - ${message}` });
  if (statusCode >= 400 && statusCode < 500)
    return new ApiError(statusCode, { message: texts[statusCode] ?? `${statusCode} ${message}` });
  if (error instanceof TooMuchWaiting || error instanceof NoPlace) return tooBusy();
  if (isFull(error)) return away('The disk of the server is full');
  if (error instanceof BlobStoreError) return away('The store of large files cannot be reached');
  if (isUnavailable(error)) return away('The database cannot be reached');
  return error.code === lostCode ? away() : new ApiError(500, { message: '500 Internal Server Error' });
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Forwards a failed request to another site, before anything was answered.
     * @returns undefined when the error is answered here
     */
    elsewhere?(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | undefined;
  }
}

/** An error handler that replies in a form, and logs server errors. */
export function answeringIn(form: ErrorForm) {
  const answer = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal = form.meaningOf?.(error, request) ?? meaningOf(error);
    if (refusal.status >= 500 && !(error instanceof ApiError) && !request.server.outage.covers(error))
      request.log.error({ err: error }, 'request failed');
    return form.write(refusal, request, reply.code(refusal.status).headers(refusal.headers));
  };
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    if (reply.raw.headersSent) {
      reply.raw.destroy();
      return reply;
    }
    const elsewhere = request.server.elsewhere?.(error, request, reply);
    return elsewhere?.catch((refused) => answer(refused, request, reply)) ?? answer(error, request, reply);
  };
}

/** The form of the API: JSON with `message`. As bytes, since Fastify would add a charset to text. */
export const jsonForm: ErrorForm = {
  write: ({ status, body }, _request, reply) =>
    status === 304
      ? reply.send()
      : reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body))),
};

const statusOfUnreadable: Record<string, number> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

/** Replies to a request that is not valid HTTP, or too slow, and closes the connection, because the start of the next request is unknown. */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = statusOfUnreadable[error.code ?? ''] ?? 400;
  const body = JSON.stringify({ message: texts[status] });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
}

/** The `message` of a refusal without its status, for formats that show the status elsewhere. */
export const messageOf = (refusal: ApiError): string => textOf(refusal).replace(/^\d{3} /, '');
