/** An object store for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atFileEnd } from './file_end.ts';

const program = path.join(import.meta.dirname, 's3_server.ts');
const bucket = 'blobs';

/** The credentials that the store accepts. */
export const credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

export interface ObjectStore {
  /** `http://…` */
  endpoint: string;
  bucket: string;
  /** The value of COPPICE_BLOBS, with a prefix in the bucket. */
  address(prefix?: string): string;
  /** The names of the objects in the bucket, in order. */
  objects(): Promise<string[]>;
  /** The number of uploads that have begun and not ended. */
  uploads(): Promise<number>;
  /** From now on, nothing answers. */
  stop(): Promise<void>;
  /** Answers again, at the same endpoint and with the same objects. */
  start(): Promise<void>;
}

/** Its tokens for the next page are encrypted with DES. */
const run = (folder: string, port: string) =>
  spawn(process.execPath, ['--openssl-legacy-provider', program, folder, bucket, port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Starts a store with an empty bucket, which ends with the test file. */
export async function objectStore(): Promise<ObjectStore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-s3-'));
  let port = '0';
  let child: ReturnType<typeof run> | undefined;
  const start = async () => {
    child = run(folder, port);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    port = line.toString().trim();
  };
  const stop = async () => {
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    child = undefined;
  };
  atFileEnd(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  const entries = async (below = '') =>
    readdir(path.join(folder, bucket, below), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  return {
    endpoint,
    bucket,
    address: (prefix = '') => `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint)}`,
    objects: async () =>
      (await entries())
        .filter((name) => name.endsWith('._S3rver_object'))
        .map((name) => name.slice(0, -'._S3rver_object'.length))
        .sort(),
    uploads: async () => (await entries('._S3rver_uploads')).filter((name) => path.basename(name) === 'key').length,
    stop,
    start,
  };
}
