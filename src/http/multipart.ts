/** Parses multipart bodies as a stream. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { badParams } from './errors.ts';
import { nest, type Values } from './form.ts';

/** The refusal of a body that does not match its headers. */
export const mismatch = 'message body does not match declared format';

/** Gets each file; it must read or resume the stream, and is waited for. */
export type OnFile = (name: string, file: Readable, filename: string | undefined) => void | Promise<void>;

/**
 * Reads a multipart body to its end.
 * @returns its text fields
 * @throws ApiError 400 for a body that is none, and what `onFile` throws, when all has been read and `onFile` has nothing under way any more
 */
export function readParts(headers: IncomingHttpHeaders, payload: Readable, onFile: OnFile): Promise<Values> {
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = [];
    const files: { stream: Readable; done: Promise<void> }[] = [];
    let parser: BusboyInstance;
    const refuse = () => fail(badParams(mismatch));
    const fail = (error: Error) => {
      Promise.allSettled(files.map(({ done }) => done)).then(() => reject(error));
      // Otherwise its reader would wait for ever.
      for (const { stream } of files) stream.destroy(error);
      if (parser) payload.unpipe(parser);
      payload.resume();
    };
    try {
      parser = new Busboy({
        headers: headers as { 'content-type': string },
        limits: { fields: 4096, fieldSize: 64 * 1024 * 1024, files: 16 },
      });
    } catch {
      return refuse();
    }
    parser.on('field', (name, value, isNameCut, isValueCut) => {
      if (isNameCut || isValueCut) refuse();
      else pairs.push([name, value]);
    });
    parser.on('file', (name, stream, filename) => {
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
      if (!payload.readableEnded) fail(new Error('the client broke off'));
    });
    payload.pipe(parser);
  });
}
