/** Queries for errors. */
import { type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { isVisibleIssue, type MaybeCaller, type Project } from '../../../../access/index.ts';
import { customPlan, type Database, type DB, isAmong, ofAnyLength } from '../../../../db/index.ts';
import { Direction, filtersOn } from '../../../../http/index.ts';
import { countedUpTo } from '../../../../lists/index.ts';
import { isFoundIn } from '../../../../texts/index.ts';
import { type UserBasicRow, userBasicJson } from '../../../people/users/index.ts';
import { maximumTagValue } from '../payload/rules.ts';

export const statuses = ['unresolved', 'resolved', 'ignored'] as const;
export type Status = (typeof statuses)[number];

/** The issue created from an error, if the caller may read it. */
interface LinkedIssue {
  id: number;
  iid: number;
  title: string;
  state: string;
  /** The path of its project. */
  full_path: string;
}

export interface ErrorRow {
  id: number;
  name: string;
  description: string;
  actor: string;
  platform: string;
  level: string;
  status: Status;
  first_seen_at: string;
  last_seen_at: string;
  first_release: string | null;
  last_release: string | null;
  events_count: number;
  users_count: number;
  fingerprint: string;
  assignee: UserBasicRow | null;
  issue: LinkedIssue | null;
}

const textColumns = ['name', 'description', 'actor'] as const;

/** A text of an error, from its separate table. */
export const errorText = <Column extends (typeof textColumns)[number]>(column: Column) =>
  sql<string>`(select ${sql.ref(`texts.${column}`)} from error_tracking_error_texts texts where texts.error_id = error_tracking_errors.id)`.as(
    column,
  );

/** A condition on `error_tracking_error_texts texts`; undefined if the query has no word. Throws `ApiError` 400 for too many words. */
const areFound = (query: string) =>
  isFoundIn(
    query,
    textColumns.map((column) => `texts.${column}`),
    'query',
  );

function saysAll(query: string): RawBuilder<SqlBool> {
  const isFound = areFound(query);
  return isFound === undefined
    ? sql`true`
    : sql`exists (select from error_tracking_error_texts texts
                   where texts.error_id = error_tracking_errors.id and texts.project_id = error_tracking_errors.project_id and ${isFound})`;
}

/** Whether an event of the error had this value of a tag. The key is inlined, not a parameter, so that the partial index can be used. */
const hasTag = (key: 'environment' | 'release', value: string): RawBuilder<SqlBool> => sql`
  exists (select from error_tracking_error_tags tags
           where tags.error_id = error_tracking_errors.id and tags.key = ${sql.lit(key)} and tags.value = ${value.slice(0, maximumTagValue)})`;

const filters = filtersOn('error_tracking_errors', (by) => ({
  query: by(Type.String({ description: 'Words that the name, the description or the actor contains' }), (_, value) =>
    saysAll(value),
  ),
  environment: by(Type.String({ description: 'An environment of its events' }), (_, value) =>
    hasTag('environment', value),
  ),
  release: by(Type.String({ description: 'A release of its events' }), (_, value) => hasTag('release', value)),
  level: by(Type.Enum(['fatal', 'error', 'warning', 'info', 'debug']), (q, value) => q('level', '=', value)),
}));

const columnOf = {
  last_seen: 'last_seen_at',
  first_seen: 'first_seen_at',
  frequency: 'events_count',
  users: 'users_count',
} as const;

/** The filter and order parameters of a list. */
export const errorListInput = {
  ...filters.input,
  status: Type.Enum([...statuses, 'all'], { default: 'unresolved' }),
  order_by: Type.Enum(['last_seen', 'first_seen', 'frequency', 'users'], { default: 'last_seen' }),
  sort: { ...Direction, default: 'desc' } as typeof Direction,
};

export interface ErrorListing {
  status: Status | 'all';
  order_by: keyof typeof columnOf;
  sort: 'asc' | 'desc';
  query?: string | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  level?: string | undefined;
}

type Errors = ExpressionBuilder<DB, 'error_tracking_errors'>;

const assignee = sql<UserBasicRow | null>`(
  select ${userBasicJson('users')} from users where users.id = error_tracking_errors.assignee_id)`;

const issueFor = (caller: MaybeCaller) => sql<LinkedIssue | null>`(
  select jsonb_build_object('id', issues.id, 'iid', issues.iid, 'title', issues.title, 'state', issues.state, 'full_path', projects.full_path::text)
    from issues join projects on projects.id = issues.project_id
   where issues.id = error_tracking_errors.issue_id and ${isVisibleIssue(caller)})`;

const columns = [
  ...(['id', 'platform', 'level', 'first_seen_at', 'last_seen_at', 'first_release', 'last_release'] as const),
  ...(['events_count', 'users_count', 'fingerprint'] as const),
] as const;

/** The errors of a project, with the columns for replies. */
const errorsOf = (db: Database, caller: MaybeCaller, project: Pick<Project, 'id'>) =>
  db
    .selectFrom('error_tracking_errors')
    .select(columns)
    .select(textColumns.map(errorText))
    .select([
      sql<Status>`error_tracking_errors.status`.as('status'),
      assignee.as('assignee'),
      issueFor(caller).as('issue'),
    ])
    .where('error_tracking_errors.project_id', '=', project.id);

const inStatus = (status: Status | 'all') => (q: Errors) => (status === 'all' ? q.lit(true) : q('status', '=', status));

/** If at most this many errors have a tag value or match the words, they are looked up directly; otherwise the list is scanned in its order. */
const few = 500;

/** The errors of a statement, unless there are more than a few; that result is cached. */
async function ifFew(db: Database, statement: RawBuilder<{ error_id: number }>): Promise<number[] | undefined> {
  const compiled = sql<{ error_id: number }>`${customPlan} ${statement} limit ${few + 1}`.compile(db);
  let ids: number[] | undefined;
  await countedUpTo(db, JSON.stringify([compiled.sql, compiled.parameters]), few + 1, async () => {
    const { rows } = await db.executeQuery(compiled);
    if (rows.length <= few) ids = rows.map(({ error_id }) => error_id);
    return rows.length;
  });
  return ids;
}

type ErrorFilters = Omit<ErrorListing, 'status' | 'order_by' | 'sort'>;

/**
 * The errors that match one selective filter and all other filters, if they are few. PostgreSQL cannot estimate how many errors contain a rare word, and would scan all of them.
 * @throws ApiError 400 for too many words
 */
async function fewFor(
  db: Database,
  project: Pick<Project, 'id'>,
  given: ErrorFilters,
): Promise<{ found: number[]; rest: ErrorFilters } | undefined> {
  for (const key of ['release', 'environment'] as const) {
    const value = given[key];
    if (value === undefined) continue;
    const tagged = sql<{ error_id: number }>`
      select error_id from error_tracking_error_tags where key = ${sql.lit(key)} and value = ${value.slice(0, maximumTagValue)}`;
    const found = await ifFew(db, tagged);
    if (found) return { found, rest: { ...given, [key]: undefined } };
  }
  const isFound = areFound(given.query ?? '');
  if (!isFound) return undefined;
  const saying = sql<{ error_id: number }>`
    select error_id from error_tracking_error_texts texts where texts.project_id = ${project.id} and ${isFound}`;
  const found = await ifFew(db, saying);
  return found && { found, rest: { ...given, query: undefined } };
}

/**
 * A list of errors: the query for a page, and a superset whose count is cheaper.
 * @throws ApiError 400 for too many words
 */
export async function errorList(
  db: Database,
  caller: MaybeCaller,
  project: Pick<Project, 'id'>,
  listing: ErrorListing,
) {
  const { status, order_by, sort, ...given } = listing;
  const few = await fewFor(db, project, given);
  const all = errorsOf(db, caller, project).where(inStatus(status));
  const within = few ? all.where(isAmong('error_tracking_errors.id', few.found, 'bigint[]')) : all;
  const column = columnOf[order_by];
  return {
    list: within
      .where(filters.matching(few?.rest ?? given))
      .orderBy(column, sort)
      .orderBy('id', sort),
    within,
  };
}

/** An error of a project, undefined if it does not exist. */
export const errorNumbered = (
  db: Database,
  caller: MaybeCaller,
  project: Pick<Project, 'id'>,
  id: number,
): Promise<ErrorRow | undefined> =>
  errorsOf(db, caller, project).where('error_tracking_errors.id', '=', id).executeTakeFirst();

/** Errors of a project by id, ordered by id. */
export const errorsNumbered = (
  db: Database,
  caller: MaybeCaller,
  project: Pick<Project, 'id'>,
  ids: readonly number[],
): Promise<ErrorRow[]> =>
  errorsOf(db, caller, project)
    .where(isAmong('error_tracking_errors.id', ids, 'bigint[]'))
    .orderBy(sql`array_position(${ofAnyLength(ids, 'bigint[]')}, error_tracking_errors.id)`)
    .execute();

export interface TagRow {
  key: string;
  values: { value: string; count: number }[];
}

/** The tags of an error with their most frequent values. */
export async function tagsOf(db: Database, error: { id: number }): Promise<TagRow[]> {
  const { rows } = await sql<TagRow>`
    select key, jsonb_agg(jsonb_build_object('value', value, 'count', count) order by count desc, value) as values
      from (select key, value, count, row_number() over (partition by key order by count desc, value) as place
              from error_tracking_error_tags where error_id = ${error.id}) as counted
     where place <= 10
     group by key order by key limit 100`.execute(db);
  return rows;
}

/** The start of an interval, in seconds since 1970, and the number of events in it. */
export type Count = [start_s: number, count: number];

/** The events of the last 24 hours by hour, and of the last 30 days by day, in UTC, including zeros. */
export interface Stats {
  '24h': Count[];
  '30d': Count[];
}

/** @returns the statistics of errors by id */
export async function statsOf(db: Database, ids: readonly number[]): Promise<Map<number, Stats>> {
  const { rows } = await sql<{ id: number; hours: Count[]; days: Count[] }>`
    select asked.id,
           (select jsonb_agg(jsonb_build_array(extract(epoch from start)::bigint, coalesce(count, 0)) order by start)
              from generate_series(date_trunc('hour', now(), 'UTC') - interval '23 hours', date_trunc('hour', now(), 'UTC'), interval '1 hour') start
                   left join error_tracking_error_hours counted on counted.error_id = asked.id and counted.hour = start) as hours,
           (select jsonb_agg(jsonb_build_array(extract(epoch from start)::bigint, coalesce(count, 0)) order by start)
              from generate_series(date_trunc('day', now(), 'UTC') - interval '696 hours', date_trunc('day', now(), 'UTC'), interval '24 hours') start
                   left join (select date_trunc('day', hour, 'UTC') as day, sum(count)::bigint as count from error_tracking_error_hours
                               where error_id = asked.id and hour >= date_trunc('day', now(), 'UTC') - interval '696 hours'
                               group by 1) counted on counted.day = start) as days
      from unnest(${ofAnyLength(ids, 'bigint[]')}) asked(id)`.execute(db);
  return new Map(rows.map(({ id, hours, days }) => [id, { '24h': hours, '30d': days }]));
}
