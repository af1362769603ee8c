/** Sends stored files: whole, in part, or as a 304 when the client has the file already (RFC 9110, sections 13 and 14). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { BlobKey, Blobs, ByteRange } from '../blobs/index.ts';
import { ApiError } from './errors.ts';
import type { Headers } from './reply.ts';

/** The headers of a request that decide how much of a file is sent. */
export type Reading = Pick<IncomingHttpHeaders, 'range' | 'if-none-match'> & { 'if-range'?: string };

export interface StoredFile {
  key: BlobKey;
  size_bytes: number;
  /** Identifies the content; without quotes. */
  etag?: string;
}

/**
 * The part of a file that a `Range` header requests; undefined for the whole file, and for headers that can be ignored, such as those with several parts.
 * @returns `unsatisfiable` if it starts after the end
 */
function rangeIn(header: string | undefined, size_bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, start, end] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (start === undefined || end === undefined || (start === '' && end === '')) return undefined;
  if (start === '') {
    if (Number(end) === 0 || size_bytes === 0) return 'unsatisfiable';
    return { start: Math.max(size_bytes - Number(end), 0), end: size_bytes - 1 };
  }
  if (end !== '' && Number(end) < Number(start)) return undefined;
  if (Number(start) >= size_bytes) return 'unsatisfiable';
  return { start: Number(start), end: end === '' ? size_bytes - 1 : Math.min(Number(end), size_bytes - 1) };
}

/** A file whose bytes can be read in part. */
export interface ReadableFile {
  size_bytes: number;
  /** Identifies the content; without quotes. */
  etag?: string;
  /** @param range undefined for the whole file */
  read: (range: ByteRange | undefined) => Promise<Readable>;
}

interface FileReply {
  status: 200 | 206 | 304;
  headers: Headers;
  body: Readable | undefined;
}

/**
 * The reply with a file, or the part of it that a request names.
 * @param headers about the file; those about its length are added
 * @throws ApiError 416 for a part that starts after the end
 */
export async function readableReply(
  { size_bytes, etag, read }: ReadableFile,
  reading: Reading,
  headers: Headers,
): Promise<FileReply> {
  const tag = etag === undefined ? undefined : `"${etag}"`;
  const common = { ...headers, ...(tag === undefined ? {} : { etag: tag }), 'accept-ranges': 'bytes' };
  if (tag !== undefined && namesTag(reading['if-none-match'], tag)) {
    const { 'content-type': _type, ...others } = common as Headers;
    return { status: 304, headers: others, body: undefined };
  }
  // A range of different bytes would corrupt the partial file that the client has already.
  const isSame = reading['if-range'] === undefined || reading['if-range'] === tag;
  const range = isSame ? rangeIn(reading.range, size_bytes) : undefined;
  if (range === 'unsatisfiable')
    throw new ApiError(416, { message: '416 Range Not Satisfiable' }, { 'content-range': `bytes */${size_bytes}` });
  const body = await read(range);
  if (!range) return { status: 200, headers: { ...common, 'content-length': String(size_bytes) }, body };
  const { start, end } = range;
  return {
    status: 206,
    headers: {
      ...common,
      'content-length': String(end - start + 1),
      'content-range': `bytes ${start}-${end}/${size_bytes}`,
    },
    body,
  };
}

/**
 * The reply with a stored file, or the part of it that a request names.
 * @param headers about the file; those about its length are added
 * @throws ApiError 416 for a part that starts after the end, Error if the blob is missing
 */
export function fileReply(
  blobs: Blobs,
  { key, ...file }: StoredFile,
  reading: Reading,
  headers: Headers,
): Promise<FileReply> {
  const read = async (range: ByteRange | undefined) => {
    const body = await blobs.read(key, range);
    if (!body) throw new Error(`the blob ${key} is missing`);
    return body;
  };
  return readableReply({ ...file, read }, reading, headers);
}

/** Whether `If-None-Match` contains a tag, which is given with its quotes. */
export const namesTag = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag) ?? false;
