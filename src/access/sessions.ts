/** Sessions in browsers: identifies the visitor by the cookie of a request (docs/reference/sessions.md). */
import type { FastifyRequest } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { type DB, dataLoader, ofAnyLength, type Slots, statement } from '../db/index.ts';
import type { Caller } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import type { Values } from '../http/form.ts';
import type { Plan } from '../http/plans.ts';
import type { Services } from '../services/index.ts';
import { authenticate } from './authentication.ts';
import { callerFrom, refuseInactive, type User, userColumns } from './callers.ts';
import { cookieOf, cookieWith } from './cookies.ts';
import { planInForce } from './plans.ts';
import { keptWithRights, rightsVersion } from './rights_version.ts';
import { hasSecondFactor, secondFactorGrace_hours } from './second_factors.ts';
import { tokenDigest } from './tokens.ts';

/** After how long a remembered session expires without use, and any session in any case; and after which time its cookie is replaced; in hours. */
export const sessionHours = { remembered: 60 * 24, most: 90 * 24, cookie: 24 };
/** How long the previous cookie stays valid, in seconds. */
const previous_s = 60;
/** How long an entered password is valid for sensitive actions, in minutes. */
const confirmed_minutes = 60;
/** The last use is recorded at most this often, and several times in the life of a short session. */
const use_minutes = 10;
const usesInLife = 4;

/** What users choose about how pages look. */
export interface PagePreferences {
  /** Whether times are shown by their distance, or as they are. */
  times: 'relative' | 'absolute';
  /** The IANA name of the zone of times. */
  time_zone: string;
  diffs: 'inline' | 'side_by_side';
  /** Whether changes of nothing but white space are shown. */
  shows_space: boolean;
  /** In characters. */
  tab_width: number;
  /** Whether pages listen to keys. */
  keys: boolean;
}

/** The preferences of those who have chosen none. */
const usualPreferences: PagePreferences = {
  times: 'relative',
  time_zone: 'UTC',
  diffs: 'inline',
  shows_space: true,
  tab_width: 4,
  keys: true,
};

/** The second factor of a visitor. */
export interface SecondFactor {
  has: boolean;
  /** When they must have one: never, at this time in the future, or now, so that pages lead to where it is set up. */
  due: 'never' | 'now' | Date;
}

/** A caller with a session in a browser. */
export interface Visitor extends Caller {
  session: {
    id: number;
    /** Whether they have given their password within the last hour. */
    is_confirmed: boolean;
    second_factor: SecondFactor;
    theme: 'auto' | 'light' | 'dark' | 'dimmed' | 'contrast';
    /** How pages look for them besides the colours. */
    preferences: PagePreferences;
    /** The version of rights by which the visitor was identified, for further reads of the request. */
    rights_version: string;
    /** Whether to replace the cookie. A stolen cookie then works only until its owner returns. */
    cookie_is_old: boolean;
  };
}

/** A predicate on rows of `web_sessions`: the session has not ended. */
export const isLasting = sql<boolean>`
  (case when web_sessions.is_remembered then web_sessions.used_at > now() - make_interval(hours => ${sql.lit(sessionHours.remembered)})
        else (select case when session_expire_from_init then web_sessions.created_at else web_sessions.used_at end > now() - make_interval(mins => session_expire_delay)
                from application_settings) end
   and web_sessions.created_at > now() - make_interval(hours => ${sql.lit(sessionHours.most)}))`;

interface SessionRow extends User {
  session_id: number;
  digest: string;
  counted: boolean;
  plan: Plan;
  page_theme: 'auto' | 'light' | 'dark' | 'dimmed' | 'contrast';
  page_times: 'relative' | 'absolute';
  page_time_zone: string;
  page_diffs: 'inline' | 'side_by_side';
  page_tab_width: number;
  show_whitespace_in_diffs: boolean;
  page_keys: boolean;
  is_lasting: boolean;
  confirmed_at: string;
  has_second_factor: boolean;
  grace_hours: number | null;
  second_factor_asked_at: string | null;
  use_is_old: boolean;
  cookie_is_old: boolean;
}

const sessionsOf = statement(
  ({ digests }: Slots<{ digests: readonly Buffer[] }>) => sql<SessionRow>`
    select web_sessions.id as session_id, encode(given.digest, 'hex') as digest, (select counts_requests from application_settings) as counted,
           ${planInForce} as plan, users.page_theme, users.page_times, users.page_time_zone, users.page_diffs, users.page_tab_width, users.page_keys, users.show_whitespace_in_diffs, ${isLasting} as is_lasting, web_sessions.confirmed_at,
           ${hasSecondFactor} as has_second_factor, ${secondFactorGrace_hours} as grace_hours, users.second_factor_asked_at,
           web_sessions.used_at < now() - make_interval(secs =>
             (select least(${sql.lit(use_minutes)}, session_expire_delay / ${sql.lit(usesInLife)}.0) * 60 from application_settings)) as use_is_old,
           web_sessions.rotated_at < now() - make_interval(hours => ${sql.lit(sessionHours.cookie)}) as cookie_is_old, ${userColumns}
      from unnest(${ofAnyLength(digests, 'bytea[]')}) given(digest)
      join web_sessions on web_sessions.token_digest = given.digest
        or (web_sessions.previous_digest = given.digest and web_sessions.rotated_at > now() - make_interval(secs => ${sql.lit(previous_s)}))
      join users on users.id = web_sessions.user_id`,
);

const hexadecimal = (digest: Buffer) => digest.toString('hex');

const sessionOfDigest = keptWithRights(
  'session',
  hexadecimal,
  dataLoader<Buffer, SessionRow>(
    hexadecimal,
    async (db, digests) => new Map((await sessionsOf(db, { digests })).map((row) => [row.digest, row])),
  ),
  ({ use_is_old, is_lasting }) => is_lasting && !use_is_old,
);

/**
 * The caller of a request for a file that pages show, such as an image: by a token as for the API, or by the session.
 * @param parameters of the query
 */
export async function readerOf(
  services: Services,
  request: FastifyRequest,
  parameters: Values,
): Promise<Caller | undefined> {
  return (await authenticate(request, parameters, services)) ?? (await visitorOf(services, request));
}

/** The name of the cookie of sessions. */
const cookie = 'coppice';

/** The cookie of a request; undefined without one. */
export const sessionCookie = (request: FastifyRequest, url: string): string | undefined =>
  cookieOf(request, url, cookie);

/**
 * The `Set-Cookie` of a session.
 * @param value of the cookie; if omitted, the browser deletes the cookie
 */
export const cookieFor = (url: string, value: string | undefined, is_remembered = false): string =>
  cookieWith(url, cookie, value ?? '', value === undefined ? 0 : is_remembered ? sessionHours.most * 3600 : undefined);

async function recordUse(db: Kysely<DB>, { session_id, id }: SessionRow, address: string): Promise<void> {
  await sql`update web_sessions set used_at = now(), address = ${address}::inet where id = ${session_id}`.execute(db);
  await sql`
    update users set last_activity_on = current_date where id = ${id} and last_activity_on is distinct from current_date`.execute(
    db,
  );
}

/**
 * The visitor whose session the cookie of a request names. A session that has ended, or whose user may no longer sign in, counts as none: the page then asks for a
 * sign-in.
 */
export async function visitorOf(services: Services, request: FastifyRequest): Promise<Visitor | undefined> {
  const value = sessionCookie(request, services.url);
  return value ? visitorOfCookie(services, value, request.ip) : undefined;
}

/**
 * The caller whose token a header has, as a visitor for this one request: files at the addresses of pages are read with it too.
 * @throws ApiError 401 and 403
 */
export async function visitorWithToken(services: Services, request: FastifyRequest): Promise<Visitor | undefined> {
  const rights_version = await rightsVersion(services.db);
  const caller = await authenticate(request, {}, services);
  if (!caller) return undefined;
  const looks = { theme: 'auto' as const, preferences: usualPreferences };
  const second_factor = { has: false, due: 'never' as const };
  return {
    ...caller,
    session: { id: 0, is_confirmed: false, second_factor, ...looks, rights_version, cookie_is_old: false },
  };
}

/** When a visitor must have a second factor. The time that they have begins when they are first told. */
function dueOf({ has_second_factor, grace_hours, second_factor_asked_at }: SessionRow): SecondFactor['due'] {
  if (has_second_factor || grace_hours === null) return 'never';
  const asked_ms = second_factor_asked_at === null ? Date.now() : Date.parse(second_factor_asked_at);
  const due = new Date(asked_ms + grace_hours * 3_600_000);
  return due.getTime() <= Date.now() ? 'now' : due;
}

/** Records since when somebody knows that they must have a second factor, or that they need none any more. */
async function recordDemand(db: Kysely<DB>, { id, grace_hours, second_factor_asked_at }: SessionRow): Promise<void> {
  if ((grace_hours === null) === (second_factor_asked_at === null)) return;
  await sql`
    update users set second_factor_asked_at = ${grace_hours === null ? null : sql`now()`} where id = ${id}`.execute(db);
}

/** The same by the value of the cookie. @param address of the client */
export async function visitorOfCookie(
  services: Services,
  cookie: string,
  address: string,
): Promise<Visitor | undefined> {
  const { db, url, geo } = services;
  const version = await rightsVersion(db);
  const row = await sessionOfDigest(db, tokenDigest(cookie), version);
  if (!row?.is_lasting) return undefined;
  try {
    refuseInactive(row, url);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
  if (geo.role !== 'secondary') {
    if (row.use_is_old) await recordUse(db, row, address.split('%', 1)[0]!);
    await recordDemand(db, row);
  }
  const token = { id: row.session_id, scopes: ['api'], kind: 'session' as const };
  const caller = callerFrom(row, { token, sudo: false, counted: row.counted, plan: row.plan }, url);
  const is_confirmed = Date.parse(row.confirmed_at) > Date.now() - confirmed_minutes * 60_000;
  return {
    ...caller,
    session: {
      id: row.session_id,
      is_confirmed,
      second_factor: { has: row.has_second_factor, due: dueOf(row) },
      theme: row.page_theme,
      preferences: {
        times: row.page_times,
        time_zone: row.page_time_zone,
        diffs: row.page_diffs,
        shows_space: row.show_whitespace_in_diffs,
        tab_width: row.page_tab_width,
        keys: row.page_keys,
      },
      rights_version: version,
      cookie_is_old: row.cookie_is_old,
    },
  };
}
