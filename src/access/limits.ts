/**
 * Rate limits: throttles of all requests and limits of single endpoints, from the application settings (docs/reference/access.md#rate-limits). They are counted in the
 * database, so that all processes share them, in windows of fixed length. While all are off, requests with a token need no further statement.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { AnyEndpoint, Caller, Counting, RateLimit } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import type { Headers } from '../http/reply.ts';
import type { Services } from '../services/index.ts';

/** A limit as SQL on the row of `application_settings`. */
interface Limit {
  name: string;
  /** Requests per window; 0 turns the limit off. */
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

/** Counts a request; undefined when the limit is off. */
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

/** The throttle of one kind of requests. */
const throttle = (kind: string): Limit => {
  const column = (ending: string) => sql.ref(`throttle_${kind}_${ending}`);
  return {
    name: `throttle_${kind}`,
    most: sql`(case when ${column('enabled')} then ${column('requests_per_period')} else ${off} end)`,
    window_s: sql`${column('period_in_seconds')}`,
  };
};

/** The limits of an endpoint; an endpoint with neither counts with all others. */
type Limited = Pick<AnyEndpoint, 'throttle' | 'rate'>;

/** Counts a request for the throttle of its kind. When that is off, the request counts with all others. */
async function throttled(
  db: Kysely<DB>,
  who: string,
  { throttle: own }: Limited,
  caller: Caller | undefined,
): Promise<Headers> {
  const kinds = own ? [own, 'api'] : ['api'];
  for (const kind of kinds) {
    const limit = throttle(`${caller ? 'authenticated' : 'unauthenticated'}_${kind}`);
    const state = await counted(db, who, limit);
    if (!state) continue;
    const headers = throttleHeaders(limit.name, state);
    if (state.count <= state.most) return headers;
    throw new ApiError(
      429,
      { message: state.response_text ?? 'Retry later' },
      { ...headers, ...refusalHeaders(state) },
    );
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

/** Counts a request for the limit of its endpoint. */
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
  throw tooOften(state.remaining_s);
}

const sentence = 'This endpoint has been requested too many times. Try again later.';
/** The refusal of calls above a limit, as endpoints declare it. */
export const tooOftenText = `error: ${sentence}`;

/**
 * 429 of a call above a limit.
 * @param remaining_s until the next call may succeed
 * @param headers besides `Retry-After`
 */
export const tooOften = (remaining_s: number, headers: Record<string, string> = {}): ApiError =>
  new ApiError(429, { message: { error: sentence } }, { 'retry-after': String(remaining_s), ...headers });

/** Whether the limit of the endpoint applies to a request. */
const isLimited = ({ parameter }: RateLimit, parameters: Counting['parameters']) =>
  parameter === undefined || (parameters[parameter] ?? '') !== '';

/**
 * Counts a request when limits are on. A secondary, whose tables are those of the primary, leaves counting of the requests that it passes on to the primary.
 * @returns headers with the state of the throttle, none while it is off
 * @throws ApiError 429 when a limit is exceeded
 */
export async function countRequest(
  { db, geo }: Pick<Services, 'db' | 'geo'>,
  endpoint: Limited,
  { caller, address, parameters }: Counting,
): Promise<Headers> {
  if (geo.role === 'secondary' || !(caller ? caller.counted : await isAnythingCounted(db))) return {};
  const who = caller ? (caller.deploys ? `deploy_token:${caller.token.id}` : `user:${caller.id}`) : address;
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
  /** Different from the name of every setting. */
  name: string;
  /** The user, address or other subject of the limit. */
  who: string;
  most: number;
  /** The length of the window, which starts with the first request. */
  window_s: number;
}

/**
 * Counts an action with a fixed limit, independent of the settings.
 * @returns whether the action is within the limit
 */
export const isWithin = async (db: Kysely<DB>, bound: Bound): Promise<boolean> => (await leftAfter(db, bound)) >= 0;

/**
 * The same.
 * @returns how many more are within the limit; -1 for the first that is not
 */
export const leftAfter = async (db: Kysely<DB>, bound: Bound): Promise<number> =>
  bound.most - (await countedIn(db, bound)).count;

/**
 * Counts a call of an endpoint that makes this server call another one, which is limited independent of the settings.
 * @throws ApiError 429
 */
export async function refuseTooOften(db: Kysely<DB>, bound: Bound): Promise<void> {
  const { count, remaining_s } = await countedIn(db, bound);
  if (count > bound.most) throw tooOften(remaining_s);
}

async function countedIn(db: Kysely<DB>, { name, who, window_s }: Bound) {
  const { rows } = await sql<Pick<Counted, 'count' | 'remaining_s'>>`
    insert into request_counts as known (name, who, ends_at, count) values (${name}, ${who}, now() + make_interval(secs => ${window_s}), 1)
    on conflict (name, who) do update
       set count = case when known.ends_at > now() then known.count + 1 else 1 end,
           ends_at = case when known.ends_at > now() then known.ends_at else excluded.ends_at end
    returning count, greatest(ceil(extract(epoch from ends_at - now())), 1)::integer as remaining_s`.execute(db);
  return rows[0]!;
}

export const tooManyAttemptsText = 'Too many attempts. Try again later.';

/** The refusal of whoever has guessed too often. @param window_s when they may try again, at the latest */
export const tooManyAttempts = (window_s: number): ApiError =>
  new ApiError(429, { message: tooManyAttemptsText }, { 'retry-after': String(window_s) });

/**
 * Counts a guess at a secret before it is looked at.
 * @throws ApiError 429
 */
export async function countGuess(db: Kysely<DB>, bound: Bound): Promise<void> {
  if (!(await isWithin(db, bound))) throw tooManyAttempts(bound.window_s);
}

/** Takes an action back that was counted and is not to be, such as a guess that was right. */
export async function takeBack(db: Kysely<DB>, { name, who }: Pick<Bound, 'name' | 'who'>): Promise<void> {
  await sql`update request_counts set count = count - 1 where name = ${name} and who = ${who} and count > 0`.execute(
    db,
  );
}

/** Deletes expired windows. */
export async function forgetOldCounts(db: Kysely<DB>): Promise<void> {
  await sql`delete from request_counts where ends_at < now()`.execute(db);
}
