/**
 * An object store that understands S3 and keeps its objects in a folder, as a program of its own: `s3_server.ts FOLDER BUCKET PORT`. It prints its port. It compares
 * signatures with the credentials S3RVER and S3RVER, except in the two requests that are added here.
 */
import type { EventEmitter } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

interface Context {
  method: string;
  path: string;
  mountPath: string;
  state: { vhost?: boolean };
  query: Record<string, string | undefined>;
  status: number;
  body: unknown;
}

/** What is used of the package, which has no types. */
interface Server {
  middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
  store: { listObjects(bucket: string, options: { maxKeys: number }): Promise<unknown> };
  run(): Promise<{ port: number }>;
}
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Server & EventEmitter;

const [directory = '', name = '', port = '0'] = process.argv.slice(2);
const server = new S3rver({
  directory,
  address: '127.0.0.1',
  port: Number(port),
  silent: true,
  configureBuckets: [{ name }],
});

// A store may give fewer keys than a page may have. Here it does, so that lists have pages.
const { listObjects } = server.store;
server.store.listObjects = (bucket, options) =>
  listObjects.call(server.store, bucket, { ...options, maxKeys: Math.min(options.maxKeys, 3) });

const element = (tag: string, content: string) => `<${tag}>${content}</${tag}>`;

/** One of two requests that the package lacks: the unfinished uploads, one to a page. */
function listUploads({ prefix = '', 'key-marker': after = '' }: Context['query']): string {
  const folder = path.join(directory, name, '._S3rver_uploads');
  const ids = existsSync(folder) ? readdirSync(folder) : [];
  const uploads = ids
    .map((id) => ({
      id,
      key: readFileSync(path.join(folder, id, 'key'), 'utf8'),
      since: statSync(path.join(folder, id)).mtime,
    }))
    .filter(({ key }) => key.startsWith(prefix) && key > after)
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const [first] = uploads;
  const shown = first
    ? element(
        'Upload',
        element('Key', first.key) + element('UploadId', first.id) + element('Initiated', first.since.toISOString()),
      )
    : '';
  const next = first ? element('NextKeyMarker', first.key) + element('NextUploadIdMarker', first.id) : '';
  return element('ListMultipartUploadsResult', element('IsTruncated', String(uploads.length > 1)) + next + shown);
}

/** The other one: what an unfinished upload has stored is deleted. */
function abortUpload(id: string): void {
  rmSync(path.join(directory, name, '._S3rver_uploads', path.basename(id)), { recursive: true, force: true });
}

server.middleware.unshift(async (context, next) => {
  const { method, query } = context;
  if (method === 'GET' && query.uploads !== undefined) {
    context.status = 200;
    context.body = `<?xml version="1.0"?>${listUploads(query)}`;
  } else if (method === 'DELETE' && query.uploadId !== undefined) {
    abortUpload(query.uploadId);
    context.status = 204;
  } else await next();
});

// The package takes signatures of `/bucket/` for signatures of `/bucket`, unless it thinks that the bucket is in the name of the host.
server.middleware.splice(-1, 0, (context, next) => {
  if (/^\/[^/]+\/$/.test(context.path)) {
    context.state.vhost = true;
    context.mountPath = '/';
  }
  return next();
});

console.log((await server.run()).port);
