/** File uploads, as parts of a multipart body. */
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { TProperties } from 'typebox';
import { BlobMismatch, type Blobs, newBlobKey } from '../blobs/index.ts';
import type { Database } from '../db/index.ts';
import { invalid } from './errors.ts';
import type { Values } from './form.ts';
import { readParts, tooLarge } from './multipart.ts';
import { SentFile } from './sent_file.ts';
import { type FileLimit, type FileMark, type Marked, marks } from './types.ts';
import { UploadedFile } from './uploaded_file.ts';

/** The file parameter of an endpoint, and the limit of the file. */
export type FileParameter = { name: string } & FileMark;

/** The file that a body may contain. */
export interface WantedFile {
  /** The media type of its part of the body. */
  name: string;
  /** The first part of the key of its blob. */
  kind: string;
  at_most_bytes: number;
}

/** The facts about an endpoint that the body reader needs. */
export interface TakesFiles {
  /** Whether it has a file parameter. */
  takes_files?: boolean;
}

/** The file parameters of an endpoint. */
export const filesIn = (input: TProperties): FileParameter[] =>
  Object.entries(input).flatMap(([name, schema]) => {
    const kinds = (schema as { anyOf?: Marked[] }).anyOf ?? [schema as Marked];
    const file = kinds.map((kind) => kind[marks]?.file).find((limits) => limits !== undefined);
    return file ? [{ name, ...file }] : [];
  });

/** The longest file name that file systems take. */
const maximumName_bytes = 255;

/** A name within 255 bytes of UTF-8, shortenedName before its extension. */
export function shortenedName(name: string): string {
  const excess_bytes = Buffer.byteLength(name) - maximumName_bytes;
  if (excess_bytes <= 0) return name;
  const extension = path.extname(name);
  const stem = Buffer.from(name.slice(0, name.length - extension.length));
  if (stem.length <= excess_bytes) return shortenedName(extension.slice(-maximumName_bytes / 4));
  // A character that is cut in two decodes to a replacement of three bytes.
  return (
    stem
      .subarray(0, stem.length - excess_bytes)
      .toString()
      .replace(/\ufffd$/, '') + extension
  );
}

/** Windows clients send whole paths. PostgreSQL cannot store NUL. */
const lastPart = (filename: string) =>
  shortenedName(filename.split(/[/\\]/).at(-1)!.replaceAll('\0', '').toWellFormed()) || 'unnamed';

/**
 * Reads a multipart body with short files, which are kept in memory: each field of files is a list of `SentFile`.
 * @param at_most_bytes of the whole body
 * @throws ApiError 400 for a malformed body, 413 for one that is too large
 */
export async function readWithShortFiles(
  headers: IncomingHttpHeaders,
  payload: Readable,
  at_most_bytes: number,
): Promise<Values> {
  const received: [part: string, file: SentFile][] = [];
  const fields = await readParts(headers, payload, {
    at_most_bytes,
    async onFile(part, stream, filename) {
      const content = await buffer(stream);
      // Browsers send an empty one where none was chosen.
      if (filename) received.push([part, new SentFile(lastPart(filename), content)]);
    },
  });
  const files = Map.groupBy(received, ([part]) => part);
  return { ...fields, ...Object.fromEntries([...files].map(([part, sent]) => [part, sent.map(([, file]) => file)])) };
}

/** The allowance for text fields and the boundaries of the parts. */
const overhead_bytes = 2 * 1024 * 1024;

export interface FileOptions {
  files: readonly WantedFile[];
  blobs: Blobs;
}

/** A limit in bytes. */
export async function mostBytes(db: Database, limit: FileLimit): Promise<number> {
  if ('at_most_bytes' in limit) return limit.at_most_bytes;
  const setting = limit.at_most_mib_setting;
  const row = await db.selectFrom('application_settings').select(setting).where('id', '=', 1).executeTakeFirstOrThrow();
  return row[setting] * 1024 * 1024;
}

/**
 * The values of a form as an endpoint takes them: files that were kept in memory become uploaded ones, which must be kept or discarded.
 * @param input of the endpoint
 * @throws ApiError 400 for a file that is too large
 */
export async function asUploaded(
  values: Values,
  input: TProperties,
  { db, blobs }: { db: Database; blobs: Blobs },
): Promise<{ fields: Values; files: UploadedFile[] }> {
  const received: Record<string, UploadedFile> = {};
  for (const parameter of filesIn(input)) {
    const { name, kind } = parameter;
    const file = [values[name]].flat().findLast((each) => each instanceof SentFile);
    if (!file) continue;
    const most = await mostBytes(db, parameter);
    const size_bytes = file.content.length;
    if (size_bytes > most) throw invalid({ [name]: [`is too big (should be at most ${Math.floor(most / 1024)} KiB)`] });
    const blob = await blobs.receive(newBlobKey(kind), Readable.from([file.content]), { at_most_bytes: size_bytes });
    received[name] = new UploadedFile(file.name, blob);
  }
  return { fields: { ...values, ...received }, files: Object.values(received) };
}

/** Deletes files that are not kept. */
export const discardAll = async (files: Iterable<UploadedFile>): Promise<void> =>
  void (await Promise.all(Array.from(files, (file) => file.discard())));

/**
 * Reads a multipart body with files. Only text fields are kept in memory.
 * @returns the text fields, and the files among them, which must be kept or discarded
 * @throws ApiError 400 for a malformed body, 413 for a file that is too large
 */
export async function readWithFiles(
  headers: IncomingHttpHeaders,
  payload: Readable,
  { files, blobs }: FileOptions,
): Promise<{ fields: Values; files: UploadedFile[] }> {
  const maximum_bytes = files.reduce((sum, { at_most_bytes }) => sum + at_most_bytes, overhead_bytes);
  if (Number(headers['content-length']) > maximum_bytes) throw tooLarge();
  const wanted = new Map(files.map((file) => [file.name, file]));
  const received = new Map<string, UploadedFile>();
  try {
    const fields = await readParts(headers, payload, {
      at_most_bytes: maximum_bytes,
      async onFile(part, stream, filename) {
        const file = wanted.get(part);
        if (!file) return;
        wanted.delete(part);
        const { kind, at_most_bytes } = file;
        const blob = await blobs.receive(newBlobKey(kind), stream, { at_most_bytes });
        received.set(part, new UploadedFile(lastPart(filename ?? ''), blob));
      },
    });
    return { fields: { ...fields, ...Object.fromEntries(received) }, files: [...received.values()] };
  } catch (error) {
    await discardAll(received.values());
    throw error instanceof BlobMismatch ? tooLarge() : error;
  }
}
