/** Endpoints for clients that read errors in Sentry's format (docs/reference/error_tracking.md#clients-of-sentry). */
import { mayRead, type Project, projectFor, projectPage } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import { badRequest, type Caller, type Doorway, found, idIn, leavingOf, notFound } from '../../../http/index.ts';
import { idsOnPage, rowsOf } from '../../../lists/index.ts';
import { changeStatuses } from './errors/actions.ts';
import {
  type ErrorListing,
  type ErrorRow,
  errorList,
  errorNumbered,
  type Status,
  statsOf,
  statuses,
} from './errors/queries.ts';
import { eventNamed, parsed, storedEventsFrom, type WholeEvent } from './events/queries.ts';
import { type TracedFrame, tracedStacks } from './events/source_git.ts';
import { exceptionFrames } from './events/stack_rules.ts';
import { readFrame } from './payload/frame_rules.ts';
import {
  answer,
  at,
  callerIn,
  checkRole,
  linksOf,
  pageIn,
  projectIn,
  type SentryCall,
  sentryForm,
  textIn,
} from './sentry/access.ts';
import { organizationOf, type ShownFrame, sentryEvent, sentryIssue, sentryProject } from './sentry/present.ts';
import { trackedProjects } from './sentry/queries.ts';
import { releaseDoors } from './sentry/release_http.ts';
import { bundleDoors } from './sentry/source_map_http.ts';

const maximumPerPage = 100;
/** Pages of events include their payloads, each up to a megabyte; other requests are served in between. */
const eventsPerPage = 10;

interface Found {
  caller: Caller;
  project: Project;
  error: ErrorRow;
}

/** The error in the URL, with its project. */
async function errorIn(call: SentryCall, role: 'reporter' | 'developer' = 'reporter'): Promise<Found> {
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
  const row = await db
    .selectFrom('error_tracking_errors')
    .select('project_id')
    .where('id', '=', error_id)
    .executeTakeFirst();
  return row?.project_id ?? undefined;
}

/** Parses `is:unresolved words`; defaults to unresolved errors without `query`. */
function searchIn(given: unknown): Pick<ErrorListing, 'status' | 'query'> {
  if (given === undefined) return { status: 'unresolved' };
  const words = textIn(given).split(/\s+/);
  const asked = words.filter((word) => word.startsWith('is:')).map((word) => word.slice(3));
  const status = statuses.find((known) => asked.includes(known));
  return { status: status ?? 'all', query: words.filter((word) => !word.startsWith('is:')).join(' ') };
}

const orders = { freq: 'frequency', new: 'first_seen', user: 'users' } as const;
const orderIn = (sort: string): ErrorListing['order_by'] =>
  Object.hasOwn(orders, sort) ? orders[sort as keyof typeof orders] : 'last_seen';

async function listProjects(call: SentryCall) {
  const projects = await trackedProjects(call.services.db, callerIn(call));
  const shown = projects.map((project) => ({
    ...sentryProject(project),
    status: 'active',
    organization: organizationOf(project),
  }));
  return answer(call, shown);
}

async function listIssues(call: SentryCall) {
  const { db, url } = call.services;
  const { query } = call.request;
  const [caller, project, page] = [callerIn(call), await projectIn(call), pageIn(call, maximumPerPage)];
  const listing = { ...searchIn(query.query), order_by: orderIn(textIn(query.sort)), sort: 'desc' as const };
  const { list } = await errorList(db, caller, project, listing);
  const { ids, has_more } = await idsOnPage(list, page);
  const [rows, stats] = await Promise.all([rowsOf(list, ids), statsOf(db, ids)]);
  call.reply.header('link', linksOf(call, page, has_more));
  return answer(
    call,
    rows.map((row) => sentryIssue(url, project, row, stats.get(row.id)!)),
  );
}

async function showIssue(call: SentryCall) {
  const { db, url } = call.services;
  const { project, error } = await errorIn(call);
  const stats = (await statsOf(db, [error.id])).get(error.id)!;
  return answer(call, { ...sentryIssue(url, project, error, stats), stats });
}

/** Sentry clients can also resolve in the next release, which is plain resolving here. */
function statusIn({ fields: { status } }: SentryCall): Status {
  if (status === 'resolvedInNextRelease') return 'resolved';
  const known = statuses.find((one) => one === status);
  if (known === undefined) throw badRequest('status is invalid');
  return known;
}

async function changeIssue(call: SentryCall) {
  const { caller, project, error } = await errorIn(call, 'developer');
  const status = statusIn(call);
  await changeStatuses(call.services.db, { caller, project }, [error.id], status);
  return answer(call, { status });
}

/** The stacks of the exceptions of events. Identical stacks, as in most events of one error, are resolved once. */
function tracer({ services, reply }: SentryCall, project: Project): (event: WholeEvent) => Promise<ShownFrame[][]> {
  const known = new Map<string, Promise<TracedFrame[][]>>();
  const left = leavingOf(reply);
  return async (event) => {
    const { payload, release } = event;
    const sent = exceptionFrames(payload);
    const read = sent.map((frames) => frames.map(readFrame));
    const key = JSON.stringify([release, payload.dist, payload.debug_meta, read]);
    const tracing = known.get(key) ?? tracedStacks({ ...services, left }, project, event, read);
    known.set(key, tracing);
    const traced = await tracing;
    return sent.map((frames, stack) => frames.map((frame, index) => ({ sent: frame, traced: traced[stack]![index]! })));
  };
}

async function listEvents(call: SentryCall) {
  const { db } = call.services;
  const { project, error } = await errorIn(call);
  const page = pageIn(call, eventsPerPage);
  const { items, has_more } = await storedEventsFrom(db, error, page);
  call.reply.header('link', linksOf(call, page, has_more));
  const texts: string[] = [];
  const trace = tracer(call, project);
  for (const stored of items) {
    const event = parsed(stored);
    texts.push(JSON.stringify(sentryEvent(project, event, await trace(event))));
    await nextTurn();
  }
  return call.reply.header('content-type', 'application/json').send(Buffer.from(`[${texts.join()}]`));
}

async function showEvent(call: SentryCall) {
  const { project, error } = await errorIn(call);
  const place = { id: error.id, project_id: project.id };
  const event = found('Event', await eventNamed(call.services.db, place, call.request.params.event ?? ''));
  return answer(call, sentryEvent(project, event, await tracer(call, project)(event)));
}

/** Each project has one repository, named after its path. */
async function listRepositories(call: SentryCall) {
  const { services, request } = call;
  const below = `${request.params.org ?? ''}/`.toLowerCase();
  const projects = await trackedProjects(services.db, callerIn(call));
  const repositories = projects
    .filter(({ full_path }) => full_path.toLowerCase().startsWith(below))
    .map(({ id, full_path, created_at }) => ({
      id: String(id),
      name: full_path,
      url: services.url + projectPage(full_path),
      status: 'active',
      dateCreated: created_at,
      provider: { id: 'integrations:gitlab', name: 'GitLab' },
    }));
  return answer(call, repositories);
}

export const sentryDoorway: Doorway = {
  cost: 'usual',
  doors: [
    at('GET', '/projects', listProjects),
    at('GET', '/projects/:org/:project/issues', listIssues),
    at('GET', '/issues/:issue', showIssue),
    at('PUT', '/issues/:issue', changeIssue),
    at('GET', '/issues/:issue/events', listEvents),
    at('GET', '/issues/:issue/events/:event', showEvent),
    at('GET', '/organizations/:org/repos', listRepositories),
    ...releaseDoors,
    ...bundleDoors,
  ],
  errors: () => sentryForm,
};
