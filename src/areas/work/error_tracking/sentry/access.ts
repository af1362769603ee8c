/** Shared by the endpoints for Sentry clients: authentication, access, and the format of replies and refusals. */
import {
  authenticate,
  countRequest,
  levels,
  mayRead,
  type Project,
  projectFor,
  reasonForReadOnly,
} from '../../../../access/index.ts';
import {
  badRequest,
  type Caller,
  type DoorCall,
  door,
  type ErrorForm,
  forbidden,
  type Identification,
  idIn,
  messageOf,
  notFound,
  type Services,
  scopesFor,
  unauthorized,
} from '../../../../http/index.ts';

const defaultPerPage = 20;

interface SentryRequest {
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
}
export type SentryCall = DoorCall<Caller, SentryRequest>;

export const textIn = (value: unknown): string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed() ? value : '';

export const answer = ({ reply }: SentryCall, body: unknown, status = 200) =>
  reply
    .status(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)));

/** @throws ApiError 401 without a token */
export function callerIn({ caller }: SentryCall): Caller {
  if (!caller) throw unauthorized();
  return caller;
}

/**
 * The project, if the caller may read it.
 * @throws ApiError 404 if it is hidden, 403 if the role is too low
 */
export function checkRole(caller: Caller, project: Project | undefined, role: 'reporter' | 'developer'): Project {
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  if (project.access_level < levels[role]) throw forbidden();
  if (role === 'developer' && project.read_only) throw forbidden(reasonForReadOnly(project));
  return project;
}

/**
 * The project of an organization, by its path within the organization or by its id.
 * @throws ApiError as `checkRole`
 */
async function projectNamed(call: SentryCall, name: string, role: 'reporter' | 'developer'): Promise<Project> {
  const { db } = call.services;
  const [caller, { org = '' }] = [callerIn(call), call.request.params];
  const isBelow = (project: Project | undefined) =>
    project?.full_path.toLowerCase().startsWith(`${org.toLowerCase()}/`);
  const numbered = idIn(name) === undefined ? undefined : await projectFor(db, caller, name);
  return checkRole(caller, isBelow(numbered) ? numbered : await projectFor(db, caller, `${org}/${name}`), role);
}

/** The project in the URL. */
export const projectIn = (call: SentryCall): Promise<Project> =>
  projectNamed(call, call.request.params.project ?? '', 'reporter');

const maximumProjects = 10;
const badProjects = `projects must be a list of 1 to ${maximumProjects}`;

/**
 * The distinct projects in the `projects` of a body.
 * @throws ApiError 400 for none or too many, and as `checkRole`
 */
export async function projectsIn(call: SentryCall): Promise<Project[]> {
  const { projects } = call.fields;
  const names = Array.isArray(projects)
    ? [...new Set(projects.map((each) => (typeof each === 'number' ? String(each) : textIn(each))))]
    : [];
  if (names.length === 0 || names.length > maximumProjects) throw badRequest(badProjects);
  const named = await Promise.all(names.map((name) => projectNamed(call, name, 'developer')));
  return [...new Map(named.map((project) => [project.id, project])).values()];
}

/**
 * The page for `cursor` and `limit`. The format of a cursor is `0:<offset>:<whether it goes back>`.
 * @throws ApiError 400 unless the limit is a positive number
 */
export function pageIn({ request: { query } }: SentryCall, most: number): { per_page: number; offset: number } {
  const limit = Number(textIn(query.limit) || defaultPerPage);
  const [, offset = '0'] = /^\d+:(\d{1,9}):[01]$/.exec(textIn(query.cursor) || '0:0:0') ?? [];
  if (!Number.isInteger(limit) || limit < 1) throw badRequest('limit is invalid');
  return { per_page: Math.min(limit, most), offset: Number(offset) };
}

/** The links to the adjacent pages; `results` tells whether they contain anything. */
export function linksOf(
  { services: { url }, request }: SentryCall,
  { per_page, offset }: { per_page: number; offset: number },
  has_more: boolean,
): string {
  const [path, query = ''] = request.originalUrl.split('?', 2);
  const link = (rel: string, at: number, back: 0 | 1, hasResults: boolean) => {
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', `0:${at}:${back}`);
    return `<${url}${path}?${parameters}>; rel="${rel}"; results="${hasResults}"; cursor="0:${at}:${back}"`;
  };
  return [
    link('previous', Math.max(0, offset - per_page), 1, offset > 0),
    link('next', offset + per_page, 0, has_more),
  ].join(', ');
}

const who: Identification<Caller, SentryRequest> = {
  identify: (services: Services, request) => authenticate(request, {}, services),
  scopes: ({ method }) => scopesFor({ method: method === 'HEAD' ? 'GET' : (method as 'GET') }),
  count: (services, counting) => countRequest(services, {}, counting),
};

/** An endpoint below `/api/0`. */
export const at = (
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  handle: (call: SentryCall) => Promise<unknown>,
) => door<Caller, SentryRequest>({ method, url: `/api/0${path}`, who, handle });

/** Sentry's format of errors, with the reason in `detail`. */
export const sentryForm: ErrorForm = {
  write: (refusal, _request, reply) =>
    reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify({ detail: messageOf(refusal) }))),
};
