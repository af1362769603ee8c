/** The statuses of nodes, and repairing them (docs/reference/geo.md#statuses). */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { admin } from '../../../../access/index.ts';
import {
  type AnyEndpoint,
  alias,
  found,
  get,
  Id,
  one,
  optional,
  pageOf,
  post,
  type Services,
  withStatus,
} from '../../../../http/index.ts';
import { mapPage, pageOfArray, paginate, paging } from '../../../../lists/index.ts';
import { changingAdmin, readOnly } from '../access.ts';
import { type Noun, nouns } from '../definition.ts';
import { repairNode, requestStatus } from './actions.ts';
import { copyTypes, failuresOf, failureTypes, GeoFailure } from './failure_queries.ts';
import { presentStatus, statusFormOf } from './present.ts';
import { currentRows, listedRows, type StoredRow, storedRow } from './queries.ts';

/** How long a request waits for a report of a secondary. */
const patience_ms = 5000;
const pause_ms = 250;

/** The row of a node, once it has reported again or the wait times out. */
async function reportedRow(services: Services, id: number, left: AbortSignal): Promise<StoredRow | undefined> {
  const row = () => storedRow(services, id).executeTakeFirst();
  const before = await row();
  if (!before || before.current || services.geo.role === 'secondary') return before;
  await requestStatus(services.db, id);
  for (const end = performance.now() + patience_ms; performance.now() < end && !left.aborted; ) {
    await sleep(pause_ms, undefined, { signal: left }).catch(() => {});
    const now = await row();
    if (now?.reported_at !== before.reported_at) return now;
  }
  return before;
}

async function statusReply(services: Services, noun: Noun, row: StoredRow) {
  const [current] = await currentRows(services, [row]);
  return presentStatus(services, noun, current!);
}

function routesOf(noun: Noun): AnyEndpoint[] {
  const { path, resource, title } = noun;
  const plan = 'premium' as const;
  const Status = statusFormOf(noun);
  const missing = `404 ${resource} Not Found`;
  const neverReported = `Status for ${title} not found`;
  const list = get(`${path}/status`, {
    operation: `list${resource}Statuses`,
    summary: `List the statuses of the ${title}s that have reported one, by id`,
    access: admin,
    plan,
    input: paging,
    returns: pageOf(Status),
    handle: async ({ input, ...services }) => {
      const page = await paginate(services.db, listedRows(services), input);
      const rows = await currentRows(services, page.items);
      return mapPage(page, (_stored, index) => presentStatus(services, noun, rows[index]!));
    },
  });
  return [
    list,
    get(`${path}/current/failures`, {
      operation: `list${resource}Failures`,
      summary: 'List the projects that this secondary could not copy or verify, by id; none on a primary',
      access: admin,
      plan,
      input: {
        type: Type.Enum(copyTypes, { default: 'repository' }),
        failure_type: Type.Enum(failureTypes, { default: 'sync' }),
        ...paging,
      },
      returns: pageOf(GeoFailure),
      handle: ({ input: { type, failure_type, ...page }, db, geo }) =>
        geo.role === 'secondary' ? paginate(db, failuresOf(db, { type, failure_type }), page) : pageOfArray([], page),
    }),
    alias(list, { path: `${path}/statuses` }),
    get(`${path}/:id/status`, {
      operation: `get${resource}Status`,
      summary: `Show the status of a ${title}`,
      access: admin,
      plan,
      input: {
        id: Id,
        refresh: optional(
          Type.Boolean({ description: 'Whether to ask the secondary for a new one, and to wait up to 5 seconds' }),
        ),
      },
      returns: one(Status),
      refusals: { 404: [missing, `404 ${neverReported} Not Found`] },
      handle: async ({ input: { id, refresh }, left, ...services }) => {
        const stored = refresh
          ? await reportedRow(services, id, left())
          : await storedRow(services, id).executeTakeFirst();
        const row = found(resource, stored);
        return statusReply(services, noun, found(neverReported, row.status !== null || row.current ? row : undefined));
      },
    }),
    post(`${path}/:id/repair`, {
      operation: `repair${resource}`,
      summary: `Repair the credential of a ${title} and retry its failed copies`,
      access: changingAdmin,
      plan,
      input: { id: Id },
      returns: withStatus(200, one(Status)),
      refusals: { 403: readOnly, 404: missing },
      handle: async ({ input: { id }, ...services }) => {
        await repairNode(services, noun, id);
        return statusReply(services, noun, found(resource, await storedRow(services, id).executeTakeFirst()));
      },
    }),
  ];
}

export const geoNodeStatusRoutes = nouns.flatMap(routesOf);
