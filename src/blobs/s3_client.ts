/** The client of an object store. It is loaded on first use: a server whose blobs are in a folder never needs it. */
import type { S3 } from '@aws-sdk/client-s3';
import { BlobStoreError, type S3Place } from './types.ts';

/** Sends a request to the store. Its errors are `S3Refusal`. */
export type Ask = <T>(question: (store: S3) => Promise<T>) => Promise<T>;

/** A store that accepts no connection for this long counts as unreachable. */
const connectionTimeout_ms = 5000;
/** Between two packets, and until a reply begins: completing an upload of thousands of parts takes a store minutes. */
const silence_ms = 5 * 60_000;
/** A download has a connection of its own for as long as its reader takes. */
const connections = 500;

/** The store did not respond, or refused the request. */
export class S3Refusal extends BlobStoreError {
  /** The error code of S3, such as `NoSuchKey`, or the code of the connection error. */
  readonly reason: string;
  constructor(address: string, error: unknown) {
    // The rest of the error is dropped: it contains the request with its signature.
    const { name, code, $metadata } = error as { name: string; code?: string; $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    const reason = status === undefined ? (code ?? name) : name;
    super(status === undefined ? `${address} does not answer: ${reason}` : `${address} refused: ${reason} (${status})`);
    this.reason = reason;
  }
}

/** Credentials come from the default provider chain of the SDK: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, profiles, the role of the machine. */
export function s3Client(address: string, { endpoint, region, path_style }: S3Place): Ask {
  const open = async () => {
    const { S3 } = await import('@aws-sdk/client-s3');
    return new S3({
      ...(endpoint === undefined ? {} : { endpoint }),
      region,
      forcePathStyle: path_style,
      // Each upload has the MD5 of its bytes, which every store verifies. Some stores do not support newer checksums, which also need a second pass.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: connectionTimeout_ms,
        socketTimeout: silence_ms,
        httpAgent: { maxSockets: connections },
        httpsAgent: { maxSockets: connections },
      },
    });
  };
  let opened: Promise<S3> | undefined;
  return async (question) => {
    opened ??= open();
    const store = await opened;
    try {
      return await question(store);
    } catch (error) {
      throw new S3Refusal(address, error);
    }
  };
}
