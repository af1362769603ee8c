/** The expiry of memberships, shares, tokens and authorizations, each of which ends when the day in its `expires_at` begins, in UTC; and of invitations, which end at a moment. */
import { type RawBuilder, sql } from 'kysely';

const endOf = (table: string | undefined) => sql.ref(table === undefined ? 'expires_at' : `${table}.expires_at`);

/**
 * A predicate: the row has not expired.
 * @param table the alias of the table in the statement; needed when several tables have an `expires_at`
 */
export const countsToday = (table?: string): RawBuilder<boolean> =>
  sql`(${endOf(table)} is null or ${endOf(table)} > current_date)`;

/**
 * A predicate: the row has expired. Unlike `not countsToday`, it can use an index on `expires_at`.
 * @param table the same
 */
export const hasEnded = (table?: string): RawBuilder<boolean> => sql`${endOf(table)} <= current_date`;

/** A predicate on rows of `deploy_tokens`: the day of `expires_at` is over. As in the v4 API, a deploy token works to the end of that day, in UTC. */
export const isExpiredDeployToken = sql<boolean>`coalesce(expires_at::date < current_date, false)`;

/** Invitations are deleted after this many days. */
export const invitationLifetime_days = 90;

/** A predicate on rows of `invitations`: they can still be accepted. Others are deleted at night. */
export const isOpenInvitation = sql<boolean>`(
  (invitations.expires_at is null or invitations.expires_at > now())
  and invitations.created_at > now() - make_interval(days => ${sql.lit(invitationLifetime_days)}))`;
