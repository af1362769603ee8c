/** The source of migrations: another server, which answers as the test says. */
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { World } from './populate.ts';
import { world } from './world.ts';

/** Lines of an exported relation, or each batch of them, the bytes of a file, or what answers in place of one. */
type Exported = object[] | object[][] | Buffer | Answering;
type Answering = (response: ServerResponse, request: IncomingMessage) => void;

export interface SourceEntity {
  type: 'group' | 'project';
  id: number;
  full_path: string;
  /** What `GET /groups/:id` and `GET /projects/:id` answer besides the id and paths. */
  attributes?: Record<string, unknown>;
  relations?: Record<string, Exported>;
  members?: object[];
  /** What else it answers below its address, e.g. `/wikis`. */
  answers?: Record<string, unknown>;
}

interface Source {
  url: string;
  token: string;
  version: string;
  entities: SourceEntity[];
  /** The received requests, e.g. `GET /groups/apples`, oldest first. */
  requests: string[];
  /** By their address, e.g. `/users/3`. */
  users: Map<string, object>;
  /** Where the repositories are that git may fetch from the source, by their paths there: `orchard/apples.git`. */
  repositories: Map<string, { url: string; token: string }>;
  /** Answers of single requests, in place of the usual ones. */
  answers: Map<string, Answering>;
  stop(): Promise<void>;
}

const isLines = (content: Exported): content is object[] | object[][] => Array.isArray(content);
const isBatched = (content: Exported): content is object[][] => isLines(content) && Array.isArray(content[0]);

const gzippedLines = (lines: readonly object[]): Buffer =>
  gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

function statusOf([relation, content]: [string, Exported]): object {
  const batches = isBatched(content) ? content : [];
  const batched = isBatched(content) || (isLines(content) && content.length === 0);
  return {
    relation,
    status: 1,
    error: null,
    updated_at: '2030-01-01T00:00:00.000Z',
    batched,
    batches_count: batches.length,
    total_objects_count: isLines(content) ? content.flat().length : 1,
    ...(batched
      ? {
          batches: batches.map((lines, index) => ({ batch_number: index + 1, status: 1, objects_count: lines.length })),
        }
      : {}),
  };
}

interface Usual {
  status: number;
  value?: unknown;
  file?: Buffer | Answering;
}

function answerOf(source: Source, method: string, url: URL): Usual {
  const path = url.pathname.replace(/^.*?\/api\/v4/, '');
  if (path === '/version') return { status: 200, value: { version: source.version, revision: 'abc' } };
  if (path === '/personal_access_tokens/self')
    return { status: 200, value: { active: true, revoked: false, scopes: ['api'] } };
  const user = source.users.get(path);
  if (user) return { status: 200, value: user };
  if (path === '/user') return { status: 200, value: { id: 1, username: 'importer' } };
  const [, kind, id, rest = ''] = /^\/(group|project)s\/([^/]+)(.*)$/.exec(path) ?? [];
  const named = id && decodeURIComponent(id);
  const entity = source.entities.find(
    (each) => each.type === kind && (each.full_path === named || String(each.id) === named),
  );
  if (!entity) return { status: 404, value: { message: '404 Not Found' } };
  const { relations = {}, members = [], answers = {} } = entity;
  const below = (type: SourceEntity['type']) =>
    source.entities
      .filter((each) => each.type === type && each.full_path.replace(/\/[^/]*$/, '') === entity.full_path)
      .map(presented);
  if (rest === '') return { status: 200, value: presented(entity) };
  if (Object.hasOwn(answers, rest)) return { status: 200, value: answers[rest] };
  if (rest === '/export_relations' && method === 'POST') return { status: 202, value: { message: '202 Accepted' } };
  if (rest === '/export_relations/status') return { status: 200, value: Object.entries(relations).map(statusOf) };
  if (rest === '/subgroups') return { status: 200, value: below('group') };
  if (rest === '/projects') return { status: 200, value: below('project') };
  if (rest === '/members') return { status: 200, value: members };
  if (rest === '/export_relations/download') {
    const content = relations[url.searchParams.get('relation')!];
    if (content === undefined) return { status: 404, value: { message: 'Export not found' } };
    if (!isLines(content)) return { status: 200, file: content };
    const batch = Number(url.searchParams.get('batch_number') ?? 0);
    return { status: 200, file: gzippedLines(isBatched(content) ? content[batch - 1]! : content) };
  }
  return { status: 404, value: { message: '404 Not Found' } };
}

function presented({ id, full_path, type, attributes }: SourceEntity): object {
  const path = full_path.split('/').at(-1)!;
  const place = type === 'group' ? { full_path } : { path_with_namespace: full_path, empty_repo: true };
  return { id, name: path, path, ...place, visibility: 'private', description: '', ...attributes };
}

const basic = (token: string) => `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`;

/** Lets git fetch a repository of another server through the source. @returns whether the path is one of a repository */
function forwardGit(source: Source, request: IncomingMessage, response: ServerResponse): boolean {
  const [, path, service] = /^\/(.+\.git)(\/.+)$/.exec(request.url!) ?? [];
  if (path === undefined) return false;
  const repository = source.repositories.get(path);
  if (request.headers.authorization !== basic(source.token)) {
    response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    return true;
  }
  if (!repository) {
    response.writeHead(404).end();
    return true;
  }
  const { host: _, ...headers } = request.headers;
  const forwarded = forward(`${repository.url}${service}`, {
    method: request.method!,
    headers: { ...headers, authorization: basic(repository.token) },
  });
  forwarded.once('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.rawHeaders);
    pipeline(answer, response, () => {});
  });
  pipeline(request, forwarded, () => {});
  return true;
}

/** Starts a source with a token. */
async function startSource(entities: SourceEntity[] = []): Promise<Source> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://source.test');
    const asked = `${request.method} ${url.pathname.replace(/^.*?\/api\/v4/, '')}`;
    source.requests.push(asked);
    const special = source.answers.get(asked);
    if (special) return special(response, request);
    if (forwardGit(source, request, response)) return;
    if (request.headers['private-token'] !== source.token)
      return void response.writeHead(401).end('{"message":"401 Unauthorized"}');
    const { status, value, file } = answerOf(source, request.method!, url);
    if (typeof file === 'function') return file(response, request);
    const body = file ?? Buffer.from(JSON.stringify(value));
    response.writeHead(status, {
      'content-type': file ? 'application/gzip' : 'application/json',
      'content-length': body.length,
    });
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const source: Source = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'glpat-of-the-source',
    version: '18.5.0-ee',
    entities,
    requests: [],
    users: new Map(),
    repositories: new Map(),
    answers: new Map(),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return source;
}

/** Has a server migrate from this machine. */
export async function allowLocalSources({ as }: Pick<World, 'as'>): Promise<void> {
  await as('admin').put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
}

/** The body that starts a migration from a source. */
export const migrationOf = (source: Pick<Source, 'url' | 'token'>, entities: readonly object[]) => ({
  configuration: { url: source.url, access_token: source.token },
  entities,
});

export interface MigrationPlace extends World {
  source: Source;
  /** An entity whose destination is the world's group. */
  entity(changes?: object): object;
}

/**
 * A world, on a server of the file, that may import from a source.
 * @param entities of the source; by default an empty group and a project in it
 */
export async function migrationPlace(t: TestContext, entities?: SourceEntity[]): Promise<MigrationPlace> {
  const here = await world({});
  await allowLocalSources(here);
  const source = await startSource(
    entities ?? [
      { type: 'group', id: 7, full_path: 'orchard' },
      { type: 'project', id: 8, full_path: 'orchard/apples' },
    ],
  );
  t.after(source.stop);
  const usual = { source_type: 'group_entity', source_full_path: 'orchard', destination_slug: 'copy' };
  return {
    ...here,
    source,
    entity: (changes) => ({ ...usual, destination_namespace: here.group.full_path, ...changes }),
  };
}
