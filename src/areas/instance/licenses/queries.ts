/** Queries for licenses in replies (docs/reference/licenses.md). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { countsToday } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { ApiError, DateOnly, Id, nullable, type Page, resource, Timestamp } from '../../../http/index.ts';
import { type Paging, paginate } from '../../../lists/index.ts';
import { isBillable } from './seat_queries.ts';

const fields = {
  id: Id,
  plan: Type.Enum(['starter', 'premium', 'ultimate']),
  created_at: Timestamp,
  starts_at: DateOnly,
  expires_at: nullable(DateOnly),
  historical_max: Type.Integer({
    description: 'The highest number of billable users between its start and its end, of any day or now',
  }),
  maximum_user_count: Type.Integer({
    description: 'The highest daily number of billable users since its start, or the current one',
  }),
  licensee: Type.Object({
    Name: Type.String(),
    Email: Type.String(),
    Company: Type.String(),
  }),
  add_ons: Type.Record(Type.String(), Type.Integer()),
  expired: Type.Boolean(),
  overage: Type.Integer({
    description: 'Billable users without a seat; for an expired license, the highest number during its term',
  }),
  user_limit: Type.Integer({ description: 'Seats; 0 for any number' }),
};
export const License = resource('License', fields);
export const LicenseInFull = resource('LicenseInFull', {
  ...fields,
  active_users: Type.Integer({ description: 'Billable users now' }),
});

export type LicenseRow = Static<typeof LicenseInFull>;

/** Clients read all three fields, even if a license has only some of them. */
const licensee = sql`'{"Name": "", "Email": "", "Company": ""}'::jsonb || licensee`;

/**
 * Licenses with the columns of replies, newest first.
 * @param which ids, or `current` for the one in effect
 */
export async function licensesFor(db: Database, which: readonly number[] | 'current'): Promise<LicenseRow[]> {
  const wanted =
    which === 'current'
      ? sql`licenses.id = (select id from current_license)`
      : sql`licenses.id = any(${ofAnyLength(which, 'bigint[]')})`;
  const { rows } = await sql<LicenseRow>`
    with now as materialized (select count(*)::integer as count from users where ${isBillable})
    select licenses.id, plan, licenses.created_at, starts_at, expires_at, ${licensee} as licensee, add_ons, user_limit, expired,
           historical_max, greatest(since_start, now.count) as maximum_user_count, now.count as active_users,
           case when user_limit = 0 then 0 else greatest((case when expired then historical_max else now.count end) - user_limit, 0) end as overage
      from licenses
     cross join now
     cross join lateral (select not ${countsToday()} as expired) state
     cross join lateral (
       select coalesce(max(highest), 0) as since_start,
              coalesce(max(highest) filter (where expires_at is null or day <= expires_at), 0) as historical_max
         from (select day, highest from billable_counts union all select current_date, now.count) known
        where day >= starts_at) counts
     where ${wanted}
     order by licenses.id desc`.execute(db);
  return rows;
}

/** One page of all licenses, newest first. */
export async function licensesOnPage(db: Database, input: Paging): Promise<Page<LicenseRow>> {
  const page = await paginate(db, db.selectFrom('licenses').select('id').orderBy('id', 'desc'), input);
  return {
    ...page,
    items: await licensesFor(
      db,
      page.items.map(({ id }) => id),
    ),
  };
}

/**
 * The requested license, or a value derived from it.
 * @throws ApiError 404
 */
export function foundLicense<T>(row: T | undefined): T {
  if (row === undefined) throw new ApiError(404, { message: '404 Not Found' });
  return row;
}
