/**
 * Request bodies, in every form that clients send (docs/api.md). A body is read after the caller is identified, and never beyond the caller's limit
 * (docs/operating.md#limits).
 */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse as parseJson } from 'secure-json-parse';
import type { Blobs } from '../blobs/index.ts';
import { nextTurn } from '../foundation/loop_turns.ts';
import { ApiError, badParams, mismatch } from './errors.ts';
import { FormBounds, nest, readForm, type Values } from './form.ts';
import { JsonBounds } from './json_bounds.ts';
import { Pages, parseLong, shortBody_bytes } from './long_body.ts';
import { readParts, tooLarge } from './multipart.ts';
import { readWithFiles, readWithShortFiles, type TakesFiles, type WantedFile } from './upload.ts';
import type { UploadedFile } from './uploaded_file.ts';

/** The limit for callers without a credential. */
export const anonymousBody_bytes = 64 * 1024;

/** The limit of an endpoint that declares none. */
export const usualBody_bytes = 1024 * 1024;

/** The limit of an endpoint with a long text: a million characters, some of them escaped. */
export const longTextBody_bytes = 6 * 1024 * 1024;

/** Longer bodies that arrive together are parsed in separate turns of the event loop. */
const tinyBody_bytes = 8 * 1024;

export interface BodyOptions {
  at_most_bytes: number;
  blobs: Blobs;
  /** The files that the endpoint takes. */
  files?: readonly WantedFile[];
  /** Whether the files of a multipart body are kept in memory, as `SentFile`; otherwise they are skipped. */
  keeps_files?: true | undefined;
  /** How text of any media type is read, for doors with a format of their own. */
  parse?: ((text: string) => Values) | undefined;
}

export interface ReadBody {
  fields: Values;
  /** The files among the fields, each of which must be kept or discarded. */
  files?: readonly UploadedFile[];
}

function asFields(value: unknown): Values {
  // The Go client sends `null` for options that are left out.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw badParams(mismatch);
  return value as Values;
}

function readJson(text: string): Values {
  // Several clients send `Content-Type: application/json` without a body.
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw badParams(mismatch);
  }
  return asFields(value);
}

/** A body that is read after the caller has been identified. */
export class UnreadBody {
  readonly #takes_files: boolean;
  readonly #type: string;
  readonly #request: FastifyRequest;
  readonly #payload: Readable;
  readonly #broken = Promise.withResolvers<never>();
  #reading: Promise<ReadBody> | undefined;

  constructor(request: FastifyRequest, payload: Readable) {
    this.#request = request;
    this.#payload = payload;
    this.#type = request.headers['content-type'] ?? '';
    const { takes_files = false } = request.routeOptions.config as TakesFiles;
    this.#takes_files = takes_files && /^multipart\/form-data/i.test(this.#type);
    this.#broken.promise.catch(() => {}); // The stream may fail before it is read.
    payload.on('error', () => this.abort(new ApiError(400, { message: '400 Bad request' })));
    payload.on('close', () => {
      if (!payload.readableEnded) this.abort(new ApiError(400, { message: '400 Bad request' }));
    });
  }

  /** Whether it may contain a file, which is received only after access is granted. */
  get takesFiles(): boolean {
    return this.#takes_files;
  }

  /**
   * Reads the body. The second call returns the result of the first, whatever its limit.
   * @throws ApiError 400 for a body that cannot be read, 413 for one that is too large, 415 for one of another type
   */
  read(options: BodyOptions): Promise<ReadBody> {
    this.#reading ??= this.#receiveInPause(options);
    return this.#reading;
  }

  /** Makes `read` fail with a refusal. */
  abort(refusal: ApiError): void {
    this.#broken.reject(refusal);
  }

  /** While a request waits for its client it occupies no slot, and then it waits for its turn: many bodies may have arrived at the same time. */
  async #receiveInPause(options: BodyOptions): Promise<ReadBody> {
    const { slot } = this.#request;
    slot?.pause();
    try {
      return await Promise.race([this.#read(options), this.#broken.promise]);
    } finally {
      await slot?.resume();
    }
  }

  async #read({ at_most_bytes, blobs, files, keeps_files, parse }: BodyOptions): Promise<ReadBody> {
    const payload = this.#payload;
    const { headers } = this.#request;
    if (this.#takes_files && files) return readWithFiles(headers, payload, { files, blobs });
    if (Number(headers['content-length']) > at_most_bytes) throw tooLarge();
    if (parse) return { fields: parse(await this.#text(at_most_bytes)) };
    if (/^multipart\/form-data/i.test(this.#type))
      return {
        fields: keeps_files
          ? await readWithShortFiles(headers, payload, at_most_bytes)
          : await readParts(headers, payload, { at_most_bytes }),
      };
    if (/^application\/(json|[^;]*\+json)/i.test(this.#type) || this.#type === '')
      return { fields: await this.#json(at_most_bytes) };
    if (/^application\/x-www-form-urlencoded/i.test(this.#type)) return { fields: await this.#form(at_most_bytes) };
    if ((await this.#text(at_most_bytes)) === '') return { fields: {} };
    const refusal = `The provided content-type '${this.#type}' is not supported.`;
    throw new ApiError(415, { message: refusal, error: refusal });
  }

  async #text(at_most_bytes: number): Promise<string> {
    const chunks: Buffer[] = [];
    await this.#receive(at_most_bytes, (chunk) => chunks.push(chunk));
    return Buffer.concat(chunks).toString();
  }

  async #json(at_most_bytes: number): Promise<Values> {
    const body = await this.#whole(at_most_bytes);
    if (Buffer.isBuffer(body)) {
      if (body.length > tinyBody_bytes) await nextTurn();
      new JsonBounds().add(body);
      return readJson(body.toString());
    }
    const parsed = await parseLong(body, 'json');
    return 'text' in parsed ? readJson(parsed.text) : asFields(parsed.value);
  }

  async #form(at_most_bytes: number): Promise<Values> {
    const body = await this.#whole(at_most_bytes);
    if (Buffer.isBuffer(body)) {
      if (body.length > tinyBody_bytes) await nextTurn();
      new FormBounds().add(body);
      return readForm(body.toString());
    }
    const parsed = await parseLong(body, 'form');
    return 'text' in parsed ? readForm(parsed.text) : nest(parsed.value as [string, string][]);
  }

  /** Receives a whole body: a short one is parsed here, a long one in the thread. */
  async #whole(at_most_bytes: number): Promise<Buffer | Pages> {
    const chunks: Buffer[] = [];
    let size_bytes = 0;
    let long: Pages | undefined;
    await this.#receive(at_most_bytes, (chunk) => {
      size_bytes += chunk.length;
      if (!long && size_bytes > shortBody_bytes) {
        long = new Pages();
        for (const earlier of chunks.splice(0)) long.add(earlier);
      }
      if (long) long.add(chunk);
      else chunks.push(chunk);
    });
    return long ?? Buffer.concat(chunks);
  }

  /** Receives the body in chunks. After a refusal the rest stays unread. */
  async #receive(at_most_bytes: number, take: (chunk: Buffer) => void): Promise<void> {
    const received = this.#payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    let size_bytes = 0;
    for await (const chunk of received) {
      size_bytes += chunk.length;
      if (size_bytes > at_most_bytes) throw tooLarge();
      take(chunk);
    }
  }
}

/** Defers reading bodies until `UnreadBody.read` is called. */
export function deferBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => new UnreadBody(request, payload));
}
