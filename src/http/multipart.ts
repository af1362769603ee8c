/** Parses multipart bodies as a stream. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ApiError, badParams, mismatch } from './errors.ts';
import { nest, type Values } from './form.ts';

/** 413 for a body beyond its limit. */
export const tooLarge = () => new ApiError(413, { message: '413 Request Entity Too Large' });

/** Receives each file. It must read or resume the stream; its promise is awaited. */
type OnFile = (name: string, file: Readable, filename: string | undefined) => void | Promise<void>;

interface PartsOptions {
  /** The limit of the whole body. */
  at_most_bytes: number;
  /** If omitted, files are skipped. */
  onFile?: OnFile;
}

/** The limit of all text fields together, which are kept in memory. */
const maximumFields_bytes = 16 * 1024 * 1024;

const pass: OnFile = (_name, file) => {
  file.resume();
};

/**
 * Reads a multipart body to its end.
 * @returns its text fields
 * @throws ApiError 400 for a malformed body, 413 for one that is too large, and errors of `onFile`, once every `onFile` has ended
 */
export function readParts(
  headers: IncomingHttpHeaders,
  payload: Readable,
  { at_most_bytes, onFile = pass }: PartsOptions,
): Promise<Values> {
  return new Promise((resolve, reject) => {
    let size_bytes = 0;
    let fields_bytes = 0;
    const pairs: [string, string][] = [];
    const files: { stream: Readable; done: Promise<void> }[] = [];
    let parser: BusboyInstance;
    const count = (chunk: Buffer) => {
      size_bytes += chunk.length;
      if (size_bytes > at_most_bytes) fail(tooLarge());
    };
    const refuse = () => fail(badParams(mismatch));
    const fail = (error: Error) => {
      Promise.allSettled(files.map(({ done }) => done)).then(() => reject(error));
      // Otherwise its reader would wait forever.
      for (const { stream } of files) stream.destroy(error);
      payload.off('data', count);
      if (parser) payload.unpipe(parser);
    };
    try {
      parser = new Busboy({
        headers: headers as { 'content-type': string },
        limits: { fields: 4096, fieldSize: Math.min(at_most_bytes, maximumFields_bytes), files: 16 },
      });
    } catch {
      return refuse();
    }
    parser.on('field', (name, value, isNameCut, isValueCut) => {
      fields_bytes += value.length;
      if (isNameCut || isValueCut || fields_bytes > maximumFields_bytes) fail(tooLarge());
      else pairs.push([name, value]);
    });
    parser.on('file', (name, stream, filename) => {
      stream.on('error', () => {}); // Emitted when the body ends early, even if nothing reads the file.
      const done = Promise.resolve(onFile(name, stream, filename)).finally(() => stream.resume());
      done.catch(() => {}); // Reported below, after the rest has been read.
      files.push({ stream, done });
    });
    parser.on('error', refuse);
    parser.on('finish', () => {
      Promise.all(files.map(({ done }) => done))
        .then(() => nest(pairs))
        .then(resolve, reject);
    });
    payload.on('error', fail);
    payload.on('close', () => {
      if (!payload.readableEnded) fail(new ApiError(400, { message: '400 Bad request' }));
    });
    payload.on('data', count);
    payload.pipe(parser);
  });
}
