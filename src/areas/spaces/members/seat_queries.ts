/**
 * Seats of the license: which users would take a new one, and whether enough are left
 * (docs/reference/members.md#seats-and-approval-of-promotions).
 */
import { type RawBuilder, sql } from 'kysely';
import { planInForce } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { isBillable, seats } from '../../instance/licenses/index.ts';
import type { Grant } from './role_checks.ts';

/** Whether a role takes a seat with Ultimate, where guests take none. */
const takesSeat = ({ access_level, member_role_id = null }: Grant): RawBuilder<boolean> => sql`
  (${access_level}::integer > 10
    or exists (select from member_roles role where role.id = ${member_role_id}::bigint and role.permissions <> '{read_code}'))`;

/**
 * The users who take no seat yet and would take one with a role.
 * @param user_ids users of any kind; only people take seats
 */
export async function newlyBillable(db: Database, user_ids: readonly number[], role: Grant): Promise<number[]> {
  if (user_ids.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select id from users
     where id = any(${ofAnyLength(user_ids, 'bigint[]')}) and user_type = 'human' and state = 'active' and not ${isBillable} and ${takesSeat(role)}
     order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Users, and people without an account, who get a role. */
export interface Newcomers {
  user_ids: readonly number[];
  /** The number of invited addresses; each may become an account. */
  addresses: number;
}

/**
 * Whether the license has seats for all of them. Always true unless the setting `seat_control` blocks overages.
 * @param tx a transaction that has locked its tree; concurrent checks wait until it ends, so that no seat is given twice
 */
export async function hasSeatsFor(tx: Database, { user_ids, addresses }: Newcomers, role: Grant): Promise<boolean> {
  const { rows } = await sql<{ isAsked: boolean; takesSeat: boolean }>`
    select ${planInForce} <> 'free' as "isAsked", ${planInForce} <> 'ultimate' or ${takesSeat(role)} as "takesSeat"
      from application_settings where seat_control = 'block_overages' for no key update`.execute(tx);
  const [asked] = rows;
  if (!asked?.isAsked) return true;
  const needed = (await newlyBillable(tx, user_ids, role)).length + (asked.takesSeat ? addresses : 0);
  if (needed === 0) return true;
  const { limit, used } = await seats(tx);
  return limit === undefined || used + needed <= limit;
}
