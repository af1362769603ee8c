/** The users who take a seat of the license, and their number (docs/reference/licenses.md). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, levels, planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/**
 * Whether a user, in a row of `users`, is more than a guest anywhere. Users own the projects in their own namespace
 * without being members of them.
 */
const isMoreThanGuest = sql`
  (exists (
    select from members left join member_roles role on role.id = members.member_role_id
     where members.user_id = users.id
       and ${countsToday('members')}
       and (members.access_level > ${sql.lit(levels.guest)} or role.permissions <> '{read_code}'))
  or exists (select from namespaces join projects on projects.namespace_id = namespaces.id where namespaces.owner_id = users.id))`;

/**
 * Whether a user, in a row of `users`, takes a seat.
 * @param plan with Ultimate, users who are at most guests everywhere take no seat
 */
const isBillableUnder = (plan: RawBuilder<string>): RawBuilder<boolean> => sql`
  (users.user_type = 'human' and users.state = 'active' and (${plan} <> 'ultimate' or ${isMoreThanGuest}))`;

/** Whether a user, in a row of `users`, takes a seat under the plan in force, as a condition for any statement. */
export const isBillable = isBillableUnder(planInForce);

async function countUnder(db: Database, plan: RawBuilder<string>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from users where ${isBillableUnder(plan)}`.execute(db);
  return rows[0]!.count;
}

/** The number of users who take a seat now, under the plan in force. */
export const billableCount = (db: Database): Promise<number> => countUnder(db, planInForce);

/** The number of users who would take a seat under another plan. */
export const billableCountUnder = (db: Database, plan: string): Promise<number> => countUnder(db, sql`${plan}::text`);

export interface Seats {
  /** The number of seats of the license; undefined if it sets no limit, and without a license. */
  limit: number | undefined;
  /** The number of seats taken now. */
  used: number;
}

/** The seats of the current license. */
export async function seats(db: Database): Promise<Seats> {
  const { rows } = await sql<{ user_limit: number | null; used: number }>`
    select (select nullif(user_limit, 0) from current_license) as user_limit,
           (select count(*) from users where ${isBillable})::integer as used`.execute(db);
  const { user_limit, used } = rows[0]!;
  return { limit: user_limit ?? undefined, used };
}

/** Counts now, and stores the result for the day. */
export async function recordBillableCount(db: Database): Promise<void> {
  await sql`
    insert into billable_counts as known (count, highest) select count, count from (select ${await billableCount(db)}::integer as count) now
    on conflict (day) do update
       set recorded_at = excluded.recorded_at, count = excluded.count, highest = greatest(known.highest, excluded.count)`.execute(
    db,
  );
}
