/** Blobs in a bucket of an object store that understands S3. */
import { Readable } from 'node:stream';
import type { ListMultipartUploadsCommandOutput, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { asidePath, keyAtPath, pathOfBlob } from './keys.ts';
import { type Ask, S3Refusal, s3Client } from './s3_client.ts';
import { S3Upload } from './s3_upload.ts';
import { type BlobKey, BlobStoreError, type Blobs, type ByteRange, type S3Place, type StoredBlob } from './types.ts';
import { copyVerified, most_bytes } from './verification.ts';

/** The maximum size that S3 copies in one request. */
const maximumCopy_bytes = 5 * 1024 ** 3;

/** A bucket, as its functions need it. */
interface Bucket {
  ask: Ask;
  address: string;
  name: string;
  prefix: string;
}

/**
 * Blobs in a bucket, which must exist.
 * @param folder absolute path, for the bytes of uploads in progress
 */
export function s3Blobs(place: S3Place, folder: string): Blobs {
  const { bucket: name, prefix } = place;
  const address = `s3://${name}/${prefix}`.replace(/\/$/, '');
  const ask = s3Client(address, place);
  const bucket: Bucket = { ask, address, name, prefix };
  const objectOf = (key: BlobKey) => ({ Bucket: name, Key: prefix + pathOfBlob(key) });
  return {
    address,
    receive: async (key, source, expected) => {
      source.on('error', () => {}); // The stream may fail before it is read; its reader gets the error then.
      const upload = new S3Upload({ ask, object: objectOf(key), folder, most_bytes: most_bytes(expected) });
      try {
        const received = await copyVerified(source, expected, (chunk) => upload.write(chunk));
        await upload.settle();
        return { key, ...received, keep: () => upload.keep(), discard: () => upload.discard() };
      } catch (error) {
        await upload.discard();
        throw error;
      }
    },
    read: (key, range) => read(ask, objectOf(key), range),
    stat: (key) => stat(ask, key, objectOf(key)),
    keys: (kind) => keysIn(bucket, kind),
    placeOf: (key) => `${address}/${pathOfBlob(key)}`,
    setAside: (key) => setAside(bucket, key, objectOf(key)),
    remove: async (key) => {
      await ask((store) => store.deleteObject(objectOf(key)));
    },
    sweep: (older_than_ms) => sweep(bucket, older_than_ms),
  };
}

const isRefusal = (error: unknown, ...reasons: string[]) =>
  error instanceof S3Refusal && reasons.includes(error.reason);

async function read(ask: Ask, object: { Bucket: string; Key: string }, range: ByteRange | undefined) {
  try {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const { Body } = await ask((store) => store.getObject({ ...object, ...(Range === undefined ? {} : { Range }) }));
    return Body as Readable;
  } catch (error) {
    if (isRefusal(error, 'NoSuchKey')) return undefined;
    if (isRefusal(error, 'InvalidRange')) return Readable.from([]); // The range starts after the end.
    throw error;
  }
}

async function stat(ask: Ask, key: BlobKey, object: { Bucket: string; Key: string }): Promise<StoredBlob | undefined> {
  try {
    const { ContentLength = 0, LastModified } = await ask((store) => store.headObject(object));
    return { key, size_bytes: ContentLength, changed_at_ms: LastModified?.getTime() ?? 0 };
  } catch (error) {
    // The reply to HEAD has no body that could tell a missing bucket from a missing object.
    if (isRefusal(error, 'NotFound', 'NoSuchKey')) return undefined;
    throw error;
  }
}

async function* keysIn({ ask, name, prefix }: Bucket, kind: string | undefined): AsyncGenerator<BlobKey> {
  let after: string | undefined;
  do {
    const page: ListObjectsV2CommandOutput = await ask((store) =>
      store.listObjectsV2({
        Bucket: name,
        Prefix: kind === undefined ? prefix : `${prefix}${kind}/`,
        ...(after === undefined ? {} : { ContinuationToken: after }),
      }),
    );
    for (const { Key = '' } of page.Contents ?? []) {
      const key = keyAtPath(Key.slice(prefix.length));
      if (key !== undefined) yield key;
    }
    after = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (after !== undefined);
}

async function setAside(bucket: Bucket, key: BlobKey, object: { Bucket: string; Key: string }): Promise<string> {
  const { ask, address, name, prefix } = bucket;
  const aside = asidePath(key);
  const found = await stat(ask, key, object);
  if (found && found.size_bytes > maximumCopy_bytes)
    throw new BlobStoreError(
      `${address}/${pathOfBlob(key)} has more than 5 GiB, which S3 does not copy at once; move it yourself`,
    );
  const source = encodeURIComponent(`${name}/${object.Key}`).replaceAll('%2F', '/');
  await ask((store) => store.copyObject({ Bucket: name, Key: prefix + aside, CopySource: source }));
  await ask((store) => store.deleteObject(object));
  return `${address}/${aside}`;
}

async function sweep({ ask, name, prefix }: Bucket, older_than_ms: number): Promise<number> {
  const before = Date.now() - older_than_ms;
  let removed = 0;
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (markers) {
    const from: typeof markers = markers;
    const page: ListMultipartUploadsCommandOutput = await ask((store) =>
      store.listMultipartUploads({ Bucket: name, Prefix: prefix, ...from }),
    );
    for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
      // The bucket may contain objects of other programs.
      if (keyAtPath(Key.slice(prefix.length)) === undefined || !Initiated || Initiated.getTime() > before) continue;
      await ask((store) => store.abortMultipartUpload({ Bucket: name, Key, UploadId }));
      removed++;
    }
    markers = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker!, UploadIdMarker: page.NextUploadIdMarker! }
      : undefined;
  }
  return removed;
}
