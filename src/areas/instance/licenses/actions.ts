/** Complete changes to licenses. */
import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { badRequest, unprocessable } from '../../../http/index.ts';
import { refuseTooFewSeats } from './limit_checks.ts';
import { foundLicense } from './queries.ts';
import { recordBillableCount } from './seat_queries.ts';
import { type Licensed, normalised, readLicense } from './text_rules.ts';

/** How many days before its end administrators are notified, unless the license says otherwise. */
const notice_days = { paid: 15, trial: 7 };

/**
 * Installs a license. Once it has started, it takes effect from the next request.
 * @param tx the transaction of the whole change
 * @param keys the trusted keys; one of them must have signed it
 * @param text as it was issued
 * @returns its id
 * @throws ApiError 400 with a sentence: its issuer is not trusted, it was tampered with, has expired, has too few
 * seats, or has been added before (docs/reference/licenses.md)
 */
export async function addLicense(tx: Database, keys: readonly KeyObject[], text: string): Promise<number> {
  const licensed = await readLicense(text, keys);
  if (!licensed) throw badRequest('The license key is invalid. Make sure it is exactly as you received it.');
  await refuseExpired(tx, licensed);
  await refuseTooFewSeats(tx, licensed);
  const id = await orAdded(insert(tx, text, licensed));
  await sql`insert into licensing default values on conflict do nothing`.execute(tx);
  await recordBillableCount(tx);
  return id;
}

/** Translates a violation of unique texts. */
const orAdded = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isUniqueViolation(error, 'licenses_text_key') ? badRequest('This license has already been added.') : error;
  });

async function refuseExpired(tx: Database, { expires_at }: Licensed): Promise<void> {
  if (expires_at == null) return;
  const { rows } = await sql<{ expired: boolean }>`select ${expires_at}::date <= current_date as expired`.execute(tx);
  if (rows[0]!.expired) throw badRequest('This license has already expired.');
}

async function insert(tx: Database, text: string, { restrictions = {}, ...licensed }: Licensed): Promise<number> {
  const { plan = 'starter', active_user_count = 0, trial = false, add_ons = {} } = restrictions;
  const { starts_at, expires_at = null, block_changes_at = null } = licensed;
  const notice = sql<string | null>`${expires_at}::date - ${trial ? notice_days.trial : notice_days.paid}::integer`;
  const { id } = await tx
    .insertInto('licenses')
    .values({
      text: normalised(text),
      plan,
      trial,
      starts_at,
      expires_at,
      block_changes_at,
      licensee: JSON.stringify(licensed.licensee),
      add_ons: JSON.stringify(add_ons),
      user_limit: active_user_count,
      cloud: licensed.cloud_licensing_enabled ?? false,
      notify_admins_at: licensed.notify_admins_at ?? notice,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Deletes a license; the next valid one takes effect.
 * @throws ApiError 404, and 422 for one that is managed elsewhere
 */
export async function removeLicense(db: Database, id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { cloud } = foundLicense(
      await tx.selectFrom('licenses').select('cloud').where('id', '=', id).forUpdate().executeTakeFirst(),
    );
    if (cloud) throw unprocessable('Cloud licenses can not be removed.');
    await tx.deleteFrom('licenses').where('id', '=', id).execute();
    await recordBillableCount(tx);
  });
}
