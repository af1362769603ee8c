/** The setting with which only administrators change memberships (docs/reference/members.md#permissions). */
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

/**
 * Refuses everybody but administrators while `lock_memberships_to_ldap` is on.
 * @throws ApiError 403
 */
export async function refuseLocked(db: Database, { admin }: Pick<Caller, 'admin'>): Promise<void> {
  if (!admin && (await settingsOf(db)).lock_memberships_to_ldap) throw forbidden();
}

/** The same as part of an access rule. */
export const unlessLocked = <Granted extends { caller: Caller }>(rule: Access<Granted>): Access<Granted> => ({
  ...rule,
  async check(call) {
    const granted = await rule.check(call);
    await refuseLocked(call.db, granted.caller);
    return granted;
  },
});
