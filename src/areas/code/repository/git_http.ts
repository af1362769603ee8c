/** Git over HTTP: clone, fetch and push with the smart protocol (docs/reference/repository.md). Everything is streamed; nothing is buffered in memory. */
import { finished, pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inAddress } from '../../../foundation/addresses.ts';
import { sourceOf } from '../../../foundation/source_of.ts';
import { advertiseRefs, GitError, receivePack, type Service, uploadPack } from '../../../git/index.ts';
import {
  ApiError,
  type Caller,
  type Doorway,
  door,
  type ErrorForm,
  locationOf,
  messageOf,
  type Services,
  streamOf,
} from '../../../http/index.ts';
import type { GitAccess, GitKind } from './definition.ts';
import { countFetch, countsFetches, noticingFetch } from './fetches/actions.ts';
import {
  gitCaller,
  grantGit,
  grantPush,
  isPush,
  MovedGit,
  refuseEarly,
  repositoryFor,
  unservedRefusal,
} from './owners/git_access.ts';
import { pushRulesFor } from './push_actions.ts';
import { refusal } from './rules.ts';

/** The routes have a prefix that no project can have, because the router cannot match a path of any depth in the middle of a URL. */
const inside = '/-/git';
/** The path of a repository. It is in a namespace, except for the wiki of a top-level group. */
const address =
  /^\/(?!api\/|-\/)((?:[^/?]+\/)+[^/?]+?|[^/?]+\.wiki)(\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)(?=\?|$)/;

/**
 * The URL under which the server routes a request: that of a git client is rewritten, any other stays.
 * @param url path and query as received
 */
export function gitUrl(url: string): string {
  const [match, path = '', suffix, action] = address.exec(url) ?? [];
  if (match === undefined) return url;
  // Without the suffix the reply is a redirect, which git follows only for its first request.
  const kind = suffix ? action : action === 'info/refs' ? 'redirect' : undefined;
  try {
    return kind === undefined
      ? url
      : `${inside}/${encodeURIComponent(decodeURIComponent(path))}/${kind}${url.slice(match.length)}`;
  } catch {
    return url;
  }
}

/** git compresses negotiation requests, never a pack. No honest request decompresses to more than this. */
const maximumUnzipped_bytes = 256 * 1024 * 1024;

function unzipLimit(): Transform {
  let size_bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size_bytes += chunk.length;
      if (size_bytes > maximumUnzipped_bytes) done(refusal(413, 'The request is too large.'));
      else done(null, chunk);
    },
  });
}

/** The decompressed body of a request. Invalid data ends the stream with an error, but the connection can still carry the reply. */
function bodyOf(request: FastifyRequest): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding))
    throw refusal(415, `The encoding ${encoding} is not supported.`);
  const sent = streamOf(request);
  if (encoding === 'identity') return sent;
  const unzip = createGunzip();
  const unzipped = unzipLimit();
  const fail = (error: Error | null | undefined) => void (error && unzipped.destroy(error));
  finished(sent, { writable: false }, fail);
  unzip.once('error', fail);
  unzipped.on('error', () => {}); // The reader gets the error too, but possibly later.
  unzipped.once('close', () => {
    sent.unpipe(unzip).resume();
    unzip.destroy();
  });
  sent.pipe(unzip).pipe(unzipped);
  return unzipped;
}

const serviceOf = (name: unknown): Service => {
  if (name === 'git-upload-pack' || name === 'git-receive-pack') return name;
  throw refusal(403, "The command you're trying to execute is not allowed.");
};

/** Aborts when the client disconnects, which stops git. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}

const transportOf = (request: FastifyRequest, reply: FastifyReply) => ({
  client: sourceOf(request.ip),
  protocol: request.headers['git-protocol'] as string | undefined,
  signal: goneSignal(reply),
});

/** Sends the output of git. */
export function sendPack(reply: FastifyReply, type: string, stream: Readable): FastifyReply {
  reply.headers({
    'content-type': `application/x-${type}`,
    'cache-control': 'no-cache, max-age=0, must-revalidate',
    expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
    pragma: 'no-cache',
  });
  return reply.send(stream);
}

/** A stream that ends only after some work is done, so that a client can rely on it after the end. An aborted stream skips the work. */
export function endingAfter(stream: Readable, work: () => Promise<void>): Readable {
  const out = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => void work().then(() => done(), done),
  });
  pipeline(stream, out, () => {}); // `out` ends with the same error.
  return out;
}

/** The body is not valid gzip, is truncated, or cannot be parsed by git, which reports this only by its exit code. */
const isBadRequest = (error: Error, { method }: FastifyRequest) =>
  ('code' in error && /^Z_|^ERR_STREAM_PREMATURE_CLOSE$/.test(String(error.code))) ||
  (error instanceof GitError && error.exit_code === 128 && method === 'POST');

/** Plain text, which git prints. */
const textForm: ErrorForm = {
  meaningOf(error, request) {
    const unserved = unservedRefusal(error);
    if (unserved) return unserved;
    if (error instanceof ApiError || !isBadRequest(error, request)) return undefined;
    request.log.warn({ err: error }, 'a request that git does not understand');
    return refusal(400, 'Bad Request');
  },
  write: (given, _request, reply) => reply.type('text/plain; charset=utf-8').send(messageOf(given)),
};

interface RoutedRequest {
  Params: { path: string };
  Querystring: { service?: unknown };
}

/** Only the first request of a client can be redirected. */
function redirectTo(full_path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [, query = ''] = request.url.split('?', 2);
  // An empty segment or a backslash would lead to another host.
  const path = inAddress(full_path.split('/').filter(Boolean).join('/'));
  return reply.redirect(locationOf(`/${path}.git/info/refs?${query}`), 301);
}

const redirection = door<Caller, RoutedRequest>({
  method: 'GET',
  url: `${inside}/:path/redirect`,
  handle: ({ request, reply }) => redirectTo(request.params.path, request, reply),
});

const advertisement = (kinds: readonly GitKind[]) =>
  door<Caller, RoutedRequest>({
    method: 'GET',
    url: `${inside}/:path/info/refs`,
    who: gitCaller(({ query }) => serviceOf(query.service)),
    without_head: true,
    handle: async ({ services, caller, request, reply }) => {
      const service = serviceOf(request.query.service);
      const granted = await grantGit(services, kinds, { caller, path: request.params.path, service }).catch(
        (error: unknown) => {
          if (error instanceof MovedGit) return error;
          throw error;
        },
      );
      if (granted instanceof MovedGit) return redirectTo(granted.full_path, request, reply);
      if (isPush(service)) await refuseEarly(services, granted);
      const stream = advertiseRefs(await repositoryFor(services, granted), service, transportOf(request, reply));
      return sendPack(reply, `${service}-advertisement`, stream);
    },
  });

const noHead = door({
  method: 'HEAD',
  url: `${inside}/:path/info/refs`,
  handle: ({ reply }) => reply.code(403).send(),
});

/** The body of a fetch request, which is inspected to count fetches of projects. */
function counted(services: Services, { kind, owner }: GitAccess, request: FastifyRequest): Readable {
  const body = bodyOf(request);
  if (kind.name !== 'project' || !countsFetches(services)) return body;
  const failed = (error: unknown) => request.log.warn({ err: error }, 'fetches could not be counted');
  return pipeline(
    body,
    noticingFetch(() => countFetch(services.db, owner.id, failed)),
    () => {},
  );
}

/** Whether the refs of pipelines are for the caller: a job, in its own project. */
const ownsPipelines = ({ kind, owner, caller }: GitAccess): boolean =>
  kind.name === 'project' && caller?.job?.project_id === owner.id;

const uploading = (kinds: readonly GitKind[]) =>
  door<Caller, RoutedRequest>({
    method: 'POST',
    url: `${inside}/:path/git-upload-pack`,
    who: gitCaller(() => 'git-upload-pack'),
    handle: async ({ services, caller, request, reply }) => {
      const granted = await grantGit(services, kinds, {
        caller,
        path: request.params.path,
        service: 'git-upload-pack',
      });
      const stream = uploadPack(await repositoryFor(services, granted), {
        ...transportOf(request, reply),
        ...(ownsPipelines(granted) && { sees: 'pipelines' as const }),
        input: counted(services, granted, request),
      });
      return sendPack(reply, 'git-upload-pack-result', stream);
    },
  });

const receiving = (kinds: readonly GitKind[]) =>
  door<Caller, RoutedRequest>({
    method: 'POST',
    url: `${inside}/:path/git-receive-pack`,
    // Pushes are already compressed by the client.
    cost: 'push',
    who: gitCaller(() => 'git-receive-pack'),
    handle: async ({ services, caller, request, reply }) => {
      const granted = await grantPush(services, kinds, { caller, path: request.params.path });
      const repository = await repositoryFor(services, granted);
      const { rules, ended } = pushRulesFor(services, granted, request.log);
      const length = request.headers['content-length'];
      const size_bytes = length === undefined ? undefined : Number(length);
      const transport = { ...transportOf(request, reply), ...rules, input: bodyOf(request), size_bytes };
      const stream = await receivePack(repository, transport);
      // Not if the client has disconnected: git finishes an accepted push without it.
      return sendPack(reply, 'git-receive-pack-result', endingAfter(stream, ended));
    },
  });

/**
 * The routes for git clients. Request URLs must pass through `gitUrl`.
 * @param kinds the kinds of served repositories, as in `grantGit`
 */
export const gitDoorway = (kinds: readonly GitKind[]): Doorway => ({
  cost: 'git',
  doors: [redirection, advertisement(kinds), noHead, uploading(kinds), receiving(kinds)],
  errors: () => textForm,
  // git reads the body as a stream, and its size is not limited.
  bodies: 'stream',
});
