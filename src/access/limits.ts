/**
 * How often somebody may call: throttles of all requests and limits of single endpoints (conventions.md section 11), as the application settings say. They are
 * counted in the database, so that all processes share them, in windows of fixed length. While none is on, no statement is added to a request that carries a token.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { AnyEndpoint, Caller, Counting, RateLimit } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import type { Headers } from '../http/reply.ts';

/** A limit as SQL over the row of `application_settings`. */
interface Limit {
  name: string;
  /** Requests in a window; nothing is counted where it is not above 0. */
  most: RawBuilder<number>;
  window_s: RawBuilder<number>;
}

interface Counted {
  count: number;
  most: number;
  window_s: number;
  /** Unix time of the end of the window. */
  ends_at_s: number;
  /** Whole seconds until then, at least 1. */
  remaining_s: number;
  response_text: string | null;
}

/** Counts a request; undefined where the limit is off. */
async function counted(db: Kysely<DB>, who: string, { name, most, window_s }: Limit): Promise<Counted | undefined> {
  const { rows } = await sql<Counted>`
    with settings as (select ${most} as most, ${window_s} as window_s, rate_limiting_response_text from application_settings where ${most} > 0)
    insert into request_counts as known (name, who, ends_at, count)
    select ${name}, ${who}, to_timestamp((floor(extract(epoch from now()) / window_s) + 1) * window_s), 1 from settings
    on conflict (name, who) do update
       set count = case when known.ends_at = excluded.ends_at then known.count + 1 else 1 end, ends_at = excluded.ends_at
    returning count, extract(epoch from ends_at)::bigint as ends_at_s, greatest(ceil(extract(epoch from ends_at - now())), 1)::integer as remaining_s,
              (select most from settings), (select window_s from settings), (select rate_limiting_response_text from settings) as response_text`.execute(
    db,
  );
  return rows[0];
}

const off = sql<number>`0`;

/** The throttle of a kind of requests. */
const throttle = (kind: string): Limit => {
  const column = (ending: string) => sql.ref(`throttle_${kind}_${ending}`);
  return {
    name: `throttle_${kind}`,
    most: sql`(case when ${column('enabled')} then ${column('requests_per_period')} else ${off} end)`,
    window_s: sql`${column('period_in_seconds')}`,
  };
};

const isOfFiles = (path: string) => path.includes('/repository/files/');

/** Counts a request among all of its kind. Files have a throttle of their own; where it is off they count with everything else. */
async function throttled(db: Kysely<DB>, who: string, endpoint: AnyEndpoint, caller: Caller | undefined): Promise<Headers> {
  const kinds = isOfFiles(endpoint.path) ? ['files_api', 'api'] : ['api'];
  for (const kind of kinds) {
    const limit = throttle(`${caller ? 'authenticated' : 'unauthenticated'}_${kind}`);
    const state = await counted(db, who, limit);
    if (!state) continue;
    const headers = throttleHeaders(limit.name, state);
    if (state.count <= state.most) return headers;
    throw new ApiError(429, { message: state.response_text ?? 'Retry later' }, { ...headers, ...refusalHeaders(state) });
  }
  return {};
}

const throttleHeaders = (name: string, { count, most, window_s, ends_at_s }: Counted): Headers => ({
  'ratelimit-limit': String(Math.ceil((most * 60) / window_s)),
  'ratelimit-name': name,
  'ratelimit-observed': String(count),
  'ratelimit-remaining': String(Math.max(most - count, 0)),
  'ratelimit-reset': String(ends_at_s),
});

const refusalHeaders = ({ ends_at_s, remaining_s }: Counted): Headers => ({
  'ratelimit-resettime': new Date(ends_at_s * 1000).toUTCString(),
  'retry-after': String(remaining_s),
});

/** Counts a call among those of the endpoint. */
async function limited(db: Kysely<DB>, who: string, rate: RateLimit, caller: Caller | undefined): Promise<void> {
  if (rate.spared && caller?.admin) return;
  const setting = caller ? rate.setting : (rate.anonymous ?? rate.setting);
  const isSpared =
    rate.spared && caller
      ? sql`lower(${caller.username}) = any(array(select lower(unnest(${sql.ref(rate.spared)}))))`
      : sql`false`;
  const most = sql<number>`(case when ${isSpared} then ${off} else ${sql.ref(setting)} end)`;
  const state = await counted(db, who, { name: setting, most, window_s: sql`${sql.lit(rate.window_s)}` });
  if (!state || state.count <= state.most) return;
  throw new ApiError(
    429,
    { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    { 'retry-after': String(state.remaining_s) },
  );
}

/** Whether a call is one of those that the limit of its endpoint is about. */
const isLimited = ({ parameter }: RateLimit, parameters: Counting['parameters']) =>
  parameter === undefined || (parameters[parameter] ?? '') !== '';

/**
 * Counts a request, where limits are on.
 * @returns headers that tell the state of the throttle, none while it is off
 * @throws ApiError 429 when it is one too many
 */
export async function countRequest(
  { db }: { db: Kysely<DB> },
  endpoint: AnyEndpoint,
  { caller, address, parameters }: Counting,
): Promise<Headers> {
  if (!(caller ? caller.counted : await isAnythingCounted(db))) return {};
  const who = caller ? `user:${caller.id}` : address;
  const headers = await throttled(db, who, endpoint, caller);
  if (endpoint.rate && isLimited(endpoint.rate, parameters)) await limited(db, who, endpoint.rate, caller);
  return headers;
}

async function isAnythingCounted(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{
    counts_requests: boolean;
  }>`select counts_requests from application_settings where id = ${1}`.execute(db);
  return rows[0]!.counts_requests;
}

export interface Bound {
  /** Unlike that of any setting. */
  name: string;
  /** Who or what it is counted for. */
  who: string;
  most: number;
  /** Of a window, which begins with the first time. */
  window_s: number;
}

/**
 * Counts what is bounded whatever the settings say.
 * @returns whether it may be done now
 */
export async function isWithin(db: Kysely<DB>, { name, who, most, window_s }: Bound): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    insert into request_counts as known (name, who, ends_at, count) values (${name}, ${who}, now() + make_interval(secs => ${window_s}), 1)
    on conflict (name, who) do update
       set count = case when known.ends_at > now() then known.count + 1 else 1 end,
           ends_at = case when known.ends_at > now() then known.ends_at else excluded.ends_at end
    returning count`.execute(db);
  return rows[0]!.count <= most;
}

/** Forgets windows that are over. */
export async function forgetOldCounts(db: Kysely<DB>): Promise<void> {
  await sql`delete from request_counts where ends_at < now()`.execute(db);
}
