/** The doors for clients that read errors as they read them from Sentry (docs/reference/error_tracking.md#clients-of-sentry). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  authenticate,
  countRequest,
  levels,
  mayRead,
  type Project,
  projectFor,
  reasonForReadOnly,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  badRequest,
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  type ErrorForm,
  forbidden,
  found,
  type Identification,
  idIn,
  idsOnPage,
  messageOf,
  notFound,
  rowsOf,
  type Services,
  scopesFor,
  unauthorized,
} from '../../../http/index.ts';
import { changeStatuses } from './error_actions.ts';
import { type ErrorListing, type ErrorRow, errorList, errorNumbered, type Status, statsOf, statuses } from './error_queries.ts';
import { eventNamed, parsed, storedEventsFrom } from './event_queries.ts';
import { organizationOf, sentryEvent, sentryIssue, sentryProject } from './sentry_present.ts';
import { trackedProjects } from './sentry_queries.ts';

const maximumPerPage = 100;
const defaultPerPage = 20;
/** Pages of events have their payloads, each of which can have a megabyte; others are answered between two of them. */
const eventsPerPage = 10;

interface Asked {
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, Asked>;

const textIn = (value: unknown): string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed() ? value : '';

const json = ({ reply }: Call, body: unknown) =>
  reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)));

/** @throws ApiError 401 without a token */
function callerIn({ caller }: Call): Caller {
  if (!caller) throw unauthorized();
  return caller;
}

/**
 * The project, if the caller may read it.
 * @throws ApiError 404 for a hidden one, 403 for a role that is too low
 */
function checkRole(caller: Caller, project: Project | undefined, role: 'reporter' | 'developer'): Project {
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  if (project.access_level < levels[role]) throw forbidden();
  if (role === 'developer' && project.read_only) throw forbidden(reasonForReadOnly(project));
  return project;
}

/** The project of an organization, by its path below it or by its id. */
async function projectIn(call: Call): Promise<Project> {
  const { db } = call.services;
  const [caller, { org = '', project: name = '' }] = [callerIn(call), call.request.params];
  const isBelow = (project: Project | undefined) => project?.full_path.toLowerCase().startsWith(`${org.toLowerCase()}/`);
  const numbered = idIn(name) === undefined ? undefined : await projectFor(db, caller, name);
  const project = isBelow(numbered) ? numbered : await projectFor(db, caller, `${org}/${name}`);
  return checkRole(caller, project, 'reporter');
}

interface Found {
  caller: Caller;
  project: Project;
  error: ErrorRow;
}

/** The error that the path names, with its project. */
async function errorIn(call: Call, role: 'reporter' | 'developer' = 'reporter'): Promise<Found> {
  const { db } = call.services;
  const caller = callerIn(call);
  const id = found('Issue', idIn(call.request.params.issue ?? ''));
  const project_id = found('Issue', await projectOf(db, id));
  const project = await projectFor(db, caller, String(project_id));
  if (!project || !mayRead(caller, project)) throw notFound('Issue');
  return {
    caller,
    project: checkRole(caller, project, role),
    error: found('Issue', await errorNumbered(db, caller, project, id)),
  };
}

async function projectOf(db: Database, error_id: number): Promise<number | undefined> {
  const row = await db.selectFrom('error_tracking_errors').select('project_id').where('id', '=', error_id).executeTakeFirst();
  return row?.project_id ?? undefined;
}

/** `is:unresolved words`; without `query`, the unresolved ones. */
function searchIn(given: unknown): Pick<ErrorListing, 'status' | 'query'> {
  if (given === undefined) return { status: 'unresolved' };
  const words = textIn(given).split(/\s+/);
  const asked = words.filter((word) => word.startsWith('is:')).map((word) => word.slice(3));
  const status = statuses.find((known) => asked.includes(known));
  return { status: status ?? 'all', query: words.filter((word) => !word.startsWith('is:')).join(' ') };
}

const orders = { freq: 'frequency', new: 'first_seen', user: 'users' } as const;
const orderIn = (sort: string): ErrorListing['order_by'] => (sort in orders ? orders[sort as keyof typeof orders] : 'last_seen');

/** The page that `cursor` and `limit` ask for. A cursor is `0:<offset>:<whether it goes back>`. */
function pageIn({ request: { query } }: Call, most: number): { per_page: number; offset: number } {
  const limit = Number(textIn(query.limit) || defaultPerPage);
  const [, offset = '0'] = /^\d+:(\d{1,9}):[01]$/.exec(textIn(query.cursor) || '0:0:0') ?? [];
  if (!Number.isInteger(limit) || limit < 1) throw badRequest('limit is invalid');
  return { per_page: Math.min(limit, most), offset: Number(offset) };
}

/** The links to the pages around one; `results` says whether something is there. */
function linksOf({ services: { url }, request }: Call, page: { per_page: number; offset: number }, has_more: boolean): string {
  const [path, query = ''] = request.originalUrl.split('?', 2);
  const link = (rel: string, offset: number, back: 0 | 1, hasResults: boolean) => {
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', `0:${offset}:${back}`);
    return `<${url}${path}?${parameters}>; rel="${rel}"; results="${hasResults}"; cursor="0:${offset}:${back}"`;
  };
  const { per_page, offset } = page;
  const before = Math.max(0, offset - per_page);
  return [link('previous', before, 1, offset > 0), link('next', offset + per_page, 0, has_more)].join(', ');
}

async function listProjects(call: Call) {
  const projects = await trackedProjects(call.services.db, callerIn(call));
  const shown = projects.map((project) => ({
    ...sentryProject(project),
    status: 'active',
    organization: organizationOf(project),
  }));
  return json(call, shown);
}

async function listIssues(call: Call) {
  const { db, url } = call.services;
  const { query } = call.request;
  const [caller, project, page] = [callerIn(call), await projectIn(call), pageIn(call, maximumPerPage)];
  const listing = { ...searchIn(query.query), order_by: orderIn(textIn(query.sort)), sort: 'desc' as const };
  const { list } = errorList(db, caller, project, listing);
  const { ids, has_more } = await idsOnPage(list, page);
  const [rows, stats] = await Promise.all([rowsOf(list, ids), statsOf(db, ids)]);
  call.reply.header('link', linksOf(call, page, has_more));
  return json(
    call,
    rows.map((row) => sentryIssue(url, project, row, stats.get(row.id)!)),
  );
}

async function showIssue(call: Call) {
  const { db, url } = call.services;
  const { project, error } = await errorIn(call);
  const stats = (await statsOf(db, [error.id])).get(error.id)!;
  return json(call, { ...sentryIssue(url, project, error, stats), stats });
}

/** Clients of Sentry can also resolve with the next release, which is resolving here. */
function statusIn({ fields: { status } }: Call): Status {
  if (status === 'resolvedInNextRelease') return 'resolved';
  const known = statuses.find((one) => one === status);
  if (known === undefined) throw badRequest('status is invalid');
  return known;
}

async function changeIssue(call: Call) {
  const { caller, project, error } = await errorIn(call, 'developer');
  const status = statusIn(call);
  await changeStatuses(call.services.db, { caller, project }, [error.id], status);
  return json(call, { status });
}

async function listEvents(call: Call) {
  const { db } = call.services;
  const { project, error } = await errorIn(call);
  const page = pageIn(call, eventsPerPage);
  const { items, has_more } = await storedEventsFrom(db, error, page);
  call.reply.header('link', linksOf(call, page, has_more));
  const texts: string[] = [];
  for (const event of items) {
    texts.push(JSON.stringify(sentryEvent(project, parsed(event))));
    await nextTurn();
  }
  return call.reply.header('content-type', 'application/json').send(Buffer.from(`[${texts.join()}]`));
}

async function showEvent(call: Call) {
  const { project, error } = await errorIn(call);
  const place = { id: error.id, project_id: project.id };
  const event = found('Event', await eventNamed(call.services.db, place, call.request.params.event ?? ''));
  return json(call, sentryEvent(project, event));
}

/** Repositories belong to projects here. */
const listRepositories = async (call: Call) => {
  callerIn(call);
  return json(call, []);
};

const who: Identification<Caller, Asked> = {
  identify: (services: Services, request) => authenticate(request, {}, services),
  scopes: ({ method }) => scopesFor({ method: method === 'PUT' ? 'PUT' : 'GET' }),
  count: (services, counting) => countRequest(services, {}, counting),
};

const at = (method: 'GET' | 'PUT', path: string, handle: (call: Call) => Promise<unknown>) =>
  door<Caller, Asked>({ method, url: `/api/0${path}`, who, handle });

/** The form of Sentry: the reason in `detail`. */
const sentryForm: ErrorForm = {
  write: (refusal, _request, reply) =>
    reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify({ detail: messageOf(refusal) }))),
};

export const sentryDoorway: Doorway = {
  doors: [
    at('GET', '/projects', listProjects),
    at('GET', '/projects/:org/:project/issues', listIssues),
    at('GET', '/issues/:issue', showIssue),
    at('PUT', '/issues/:issue', changeIssue),
    at('GET', '/issues/:issue/events', listEvents),
    at('GET', '/issues/:issue/events/:event', showEvent),
    at('GET', '/organizations/:org/repos', listRepositories),
  ],
  errors: () => sentryForm,
};
