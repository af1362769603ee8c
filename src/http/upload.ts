/** File uploads, as one part of a multipart body. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { TProperties } from 'typebox';
import { BlobMismatch, type Blobs } from '../blobs/index.ts';
import type { Values } from './form.ts';
import { readParts, tooLarge } from './multipart.ts';
import { type Marked, marks } from './types.ts';
import { UploadedFile } from './uploaded_file.ts';

/** The file parameter of an endpoint, and the maximum size of the file. */
export interface FileParameter {
  name: string;
  at_most_bytes: number;
}

/** What the body reader needs to know of an endpoint. */
export interface TakesFile {
  file?: FileParameter | undefined;
}

/** The file parameter of an endpoint that has one. */
export function fileIn(input: TProperties): FileParameter | undefined {
  for (const [name, schema] of Object.entries(input)) {
    const kinds = (schema as { anyOf?: Marked[] }).anyOf ?? [schema as Marked];
    const file = kinds.map((kind) => kind[marks]?.file).find((limits) => limits !== undefined);
    if (file) return { name, ...file };
  }
  return undefined;
}

/** Windows clients send whole paths. PostgreSQL cannot store NUL. */
const lastPart = (filename: string) => filename.split(/[/\\]/).at(-1)!.replaceAll('\0', '').toWellFormed().slice(-255) || 'file';

/** For text fields and the boundaries of the parts. */
const overhead_bytes = 2 * 1024 * 1024;

export interface FileOptions {
  file: FileParameter;
  blobs: Blobs;
}

/**
 * Reads a multipart body with a file. Only text fields are kept in memory.
 * @returns the text fields, and the file among them, which must be kept or discarded
 * @throws ApiError 400 for a malformed body, 413 for a file that is too large
 */
export async function readWithFile(
  headers: IncomingHttpHeaders,
  payload: Readable,
  { file: { name, at_most_bytes }, blobs }: FileOptions,
): Promise<{ fields: Values; file: UploadedFile | undefined }> {
  const most_bytes = at_most_bytes + overhead_bytes;
  if (Number(headers['content-length']) > most_bytes) throw tooLarge();
  let file: UploadedFile | undefined;
  let isTaken = false;
  try {
    const fields = await readParts(headers, payload, {
      at_most_bytes: most_bytes,
      async onFile(part, stream, filename) {
        if (part !== name || isTaken) return;
        isTaken = true;
        file = new UploadedFile(lastPart(filename ?? ''), await blobs.receive(stream, { at_most_bytes }));
      },
    });
    return { fields: file ? { ...fields, [name]: file } : fields, file };
  } catch (error) {
    await file?.discard();
    throw error instanceof BlobMismatch ? tooLarge() : error;
  }
}
