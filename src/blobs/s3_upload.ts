/**
 * An upload of a blob to a bucket. Its bytes are collected in unlinked files, which vanish with the process, and are sent to the store in parts while more bytes
 * arrive. Parts are invisible until `keep` completes them (docs/decisions/0041-blobs-in-an-object-store.md).
 */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { Semaphore } from '../foundation/semaphore.ts';
import { type Ask, S3Refusal } from './s3_client.ts';

/** The minimum part size of S3: signing a part blocks the event loop. Parts are larger when 10,000 of them would not be enough. */
const usualPart_bytes = 5 * 1024 * 1024;
const maximumParts = 10_000;
/** The maximum number of parts of all uploads of the process that are in memory at a time. */
const sending = new Semaphore(4);

/** An unlinked file. */
interface Part {
  file: FileHandle;
  size_bytes: number;
  md5: Hash;
}

async function newPart(folder: string): Promise<Part> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = path.join(folder, randomUUID());
  const file = await open(name, 'wx+', 0o600);
  await rm(name);
  return { file, size_bytes: 0, md5: createHash('md5') };
}

export interface UploadOptions {
  ask: Ask;
  /** The key of the final object. */
  object: { Bucket: string; Key: string };
  /** The folder of the files, which is created when it is missing. */
  folder: string;
  /** The upper limit of its size. */
  most_bytes: number;
}

export class S3Upload {
  readonly #options: UploadOptions;
  readonly #part_bytes: number;
  /** The bytes that have not been sent. */
  #part: Part | undefined;
  /** The id of the multipart upload, if there is more than one part. */
  #id: string | undefined;
  readonly #sent: CompletedPart[] = [];
  #sending: Promise<void> = Promise.resolve();
  #size_bytes = 0;
  #isOver = false;

  constructor(options: UploadOptions) {
    this.#options = options;
    this.#part_bytes = Math.max(usualPart_bytes, Math.ceil(options.most_bytes / maximumParts));
  }

  async write(chunk: Buffer): Promise<void> {
    this.#size_bytes += chunk.length;
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#part?.size_bytes === this.#part_bytes) await this.#sendPart();
      this.#part ??= await newPart(this.#options.folder);
      const piece = rest.subarray(0, this.#part_bytes - this.#part.size_bytes);
      await this.#part.file.appendFile(piece);
      this.#part.md5.update(piece);
      this.#part.size_bytes += piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  /** Waits for the parts that are being sent. */
  async settle(): Promise<void> {
    await this.#sending;
  }

  /** Makes the object visible. */
  async keep(): Promise<void> {
    if (this.#id === undefined) await this.#putWhole();
    else {
      await this.#sendPart();
      await this.#sending;
      await this.#complete(this.#id);
    }
    this.#isOver = true;
  }

  /** Does nothing after `keep`. If the store does not respond now, a sweep deletes the parts later. */
  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sending.catch(() => {});
    await this.#part?.file.close();
    const { ask, object } = this.#options;
    const UploadId = this.#id;
    if (UploadId !== undefined)
      await ask((store) => store.abortMultipartUpload({ ...object, UploadId })).catch(() => {});
  }

  /** One part is sent while the next one is collected; a slow store applies backpressure to the source. */
  async #sendPart(): Promise<void> {
    await this.#sending;
    const part = this.#part;
    if (!part) return;
    this.#id ??= await this.#begin();
    this.#part = undefined;
    this.#sending = this.#send(part, this.#id);
    this.#sending.catch(() => {}); // thrown where it is awaited
  }

  async #begin(): Promise<string> {
    const { ask, object } = this.#options;
    const { UploadId } = await ask((store) => store.createMultipartUpload(object));
    if (UploadId === undefined) throw new Error('the store began an upload without an id');
    return UploadId;
  }

  async #send(part: Part, UploadId: string): Promise<void> {
    const { ask, object } = this.#options;
    const PartNumber = this.#sent.length + 1;
    const { ETag } = await inBody(part, (body) =>
      ask((store) => store.uploadPart({ ...object, UploadId, PartNumber, ...body })),
    );
    this.#sent.push({ PartNumber, ETag });
  }

  async #putWhole(): Promise<void> {
    const { ask, object, folder } = this.#options;
    const part = this.#part ?? (await newPart(folder));
    this.#part = undefined;
    await inBody(part, (body) => ask((store) => store.putObject({ ...object, ...body })));
  }

  async #complete(UploadId: string): Promise<void> {
    const { ask, object } = this.#options;
    try {
      await ask((store) =>
        store.completeMultipartUpload({ ...object, UploadId, MultipartUpload: { Parts: this.#sent } }),
      );
    } catch (error) {
      // The reply to a successful attempt was lost, and the client has tried again.
      if (!(error instanceof S3Refusal && error.reason === 'NoSuchUpload')) throw error;
      const { ContentLength } = await ask((store) => store.headObject(object));
      if (ContentLength !== this.#size_bytes) throw error;
    }
  }
}

/** Runs `work` with the bytes of a part in memory, and closes its file. */
async function inBody<T>(
  { file, size_bytes, md5 }: Part,
  work: (body: { Body: Buffer; ContentMD5: string }) => Promise<T>,
): Promise<T> {
  try {
    return await sending.run(async () => {
      const Body = Buffer.alloc(size_bytes);
      const { bytesRead } = await file.read(Body, 0, size_bytes, 0);
      if (bytesRead !== size_bytes) throw new Error('a part of an upload was cut off');
      return work({ Body, ContentMD5: md5.digest('base64') });
    });
  } finally {
    await file.close();
  }
}
