/** Whether a license has enough seats when it is added (docs/reference/licenses.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { counted } from '../../../texts/index.ts';
import { billableCountUnder } from './seat_queries.ts';
import type { Licensed } from './text_rules.ts';

type Restrictions = NonNullable<Licensed['restrictions']>;
type TrueUp = Required<Pick<Restrictions, 'trueup_quantity' | 'trueup_from' | 'trueup_to'>>;

/** The tolerance, so that a license need not be exact. */
const withTolerance = (count: number): number => Math.floor((count * 11) / 10);

/**
 * Refuses a license with too few seats for the users who take one. If the previous year had too many users, its true-up must cover them.
 * @throws ApiError 400 with the counts
 */
export async function refuseTooFewSeats(tx: Database, licensed: Licensed): Promise<void> {
  const { restrictions = {}, cloud_licensing_enabled } = licensed;
  const { active_user_count: limit = 0 } = restrictions;
  if (limit === 0 || cloud_licensing_enabled) return;
  const current = await billableCountUnder(tx, restrictions.plan ?? 'starter');
  if (isTrueUp(restrictions)) {
    await refuseSmallTrueUp(tx, restrictions, restrictions.previous_user_count ?? limit);
    if (withTolerance(limit) < current) throw tooFew(now, limit, current);
    return;
  }
  const before = await highestBetween(
    tx,
    sql`${licensed.starts_at}::date - interval '1 year'`,
    sql`${licensed.starts_at}::date`,
  );
  const { previous_user_count } = restrictions;
  const [period, users] =
    previous_user_count !== undefined && before <= previous_user_count ? [now, current] : [yearBefore, before];
  if (withTolerance(limit) < users) throw tooFew(period, limit, users);
}

const isTrueUp = (restrictions: Restrictions): restrictions is Restrictions & TrueUp =>
  restrictions.trueup_quantity !== undefined &&
  restrictions.trueup_from !== undefined &&
  restrictions.trueup_to !== undefined;

async function refuseSmallTrueUp(
  tx: Database,
  { trueup_quantity, trueup_from, trueup_to }: TrueUp,
  seats: number,
): Promise<void> {
  const needed = (await highestBetween(tx, sql`${trueup_from}::date`, sql`${trueup_to}::date`)) - seats;
  if (withTolerance(trueup_quantity) >= needed) return;
  throw badRequest(
    `You have applied a True-up for ${counted(trueup_quantity, 'user')} but you need one for ${counted(needed, 'user')}. Please contact the issuer of the license.`,
  );
}

/** The highest daily count between two days, inclusive. */
async function highestBetween(tx: Database, from: ReturnType<typeof sql>, to: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ highest: number }>`
    select coalesce(max(highest), 0) as highest from billable_counts where day between ${from} and ${to}`.execute(tx);
  return rows[0]!.highest;
}

const now = 'This Coppice installation currently has';
const yearBefore = 'During the year before this license started, this Coppice installation had';

const tooFew = (period: string, limit: number, users: number) =>
  badRequest(
    `${period} ${counted(users, 'active user')}, exceeding this license's limit of ${limit} by ${counted(users - limit, 'user')}. ` +
      `Please add a license for at least ${counted(users, 'user')} or contact its issuer.`,
  );
